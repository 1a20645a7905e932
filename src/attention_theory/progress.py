"""Progress of long work: a bar on a terminal, a plain line every few seconds anywhere else."""

import sys
import time

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 5.0


class Progress:
    """Counts steps towards `total` and shows them under `label`.

    In a log (no terminal) it prints nothing for work that ends within a few seconds.
    """

    def __init__(self, label: str, total: int) -> None:
        self.label, self.total, self.done = label, total, 0
        self.bar = tqdm(total=total, desc=label, leave=False) if sys.stderr.isatty() else None
        self.last_line = time.monotonic()

    def advance(self, note: str = "", steps: int = 1) -> None:
        """Count `steps` more; `note` says where the work stands, e.g. `loss .31`."""
        self.done += steps
        if self.bar is not None:
            self.bar.set_postfix_str(note, refresh=False)
            self.bar.update(steps)
        elif time.monotonic() - self.last_line >= SECONDS_BETWEEN_LINES:
            self.last_line = time.monotonic()
            print(f"{self.label}: {self.done}/{self.total} {note}", file=sys.stderr, flush=True)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()
