"""The data sets that a configuration may name; each is a module, and a step, of the same name."""

from typing import NamedTuple

from attention_theory.images.settings import DataSet

FOLDER = "imagefolder"  # the configuration says what its images are; nobody how many


class Known(NamedTuple):
    """What is known of a data set before it is read.

    `images` of `data` are those that a split divides: all but the test part that it may have.
    """

    title: str  # as the ledger calls it
    data: DataSet | None
    embedded: bool = False  # ships inside a library and has no test part of its own


KNOWN = {
    "digits": Known("scikit-learn's digits", DataSet(1797, 8, 1, 10), embedded=True),
    "fashion_mnist": Known("Fashion-MNIST", DataSet(60_000, 28, 1, 10)),
    "cifar10": Known("CIFAR-10", DataSet(50_000, 32, 3, 10)),
    "cifar100": Known("CIFAR-100", DataSet(50_000, 32, 3, 100)),
    "svhn": Known("SVHN", DataSet(73_257, 32, 3, 10)),
    FOLDER: Known("ImageNet (a folder of images)", None),
}
