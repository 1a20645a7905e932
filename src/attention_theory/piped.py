"""Run a step on files that are named on standard input, each name ended by a null byte.

    printf '%s\\0' PATH... | python -m attention_theory.piped tables --output table.csv

is `python -m attention_theory.tables --output table.csv PATH...`, whatever the number of files:
what the system puts on one command line is limited (on Linux mostly 2 MiB, some 30,000 paths), what
a shell's own printf writes is not. Rules that gather use it.
"""

import os
import runpy
import sys
from pathlib import Path

from attention_theory.code import PACKAGE, SOURCE


def main() -> None:
    """Give the step of the first argument the others, then the names."""
    module, *options = sys.argv[1:] or [""]
    if not Path(SOURCE, PACKAGE, *module.split(".")).with_suffix(".py").is_file():
        sys.exit(f"piped: {module!r} is not allowed; it must be a step of this package")
    names = os.fsdecode(sys.stdin.buffer.read()).split("\0")[:-1]
    sys.argv[1:] = [*options, "--", *names]
    runpy.run_module(f"{PACKAGE}.{module}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
