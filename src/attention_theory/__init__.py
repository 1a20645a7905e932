"""attention-theory: the experiments of papers on how attention learns, run again."""

__version__ = "0.1.0"
