"""`make benchmark`: every benchmark in one run, as a table and as results/benchmark.csv."""

from pathlib import Path

import images
import images_training
import kernels
import meanfield
import pandas as pd
import population
import scale
import spatial

import workflow

OUTPUT = Path("results", "benchmark.csv")


def main() -> None:
    rows = [
        *spatial.rows(),
        spatial.batched(),
        *population.rows(),
        *images.rows(),
        *images_training.rows(),
        *kernels.rows(),
        *meanfield.rows(),
        *workflow.rows(),
        *scale.rows(),
    ]
    table = pd.DataFrame(rows)
    OUTPUT.parent.mkdir(exist_ok=True)
    table.to_csv(OUTPUT, index=False)
    print(table.to_string(index=False, float_format="{:.3g}".format, na_rep=""))
    print("target: the least ratio that was wanted; miss: it was not reached in this run")
    print(f"ratio: other / ours, or the share; low and high: quartiles. Written to {OUTPUT}")


if __name__ == "__main__":
    main()
