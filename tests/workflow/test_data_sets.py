"""Data sets through the workflow: downloads that two runs share, and a training on real data."""

import json
import subprocess
import sys

import archives
import pandas as pd
import pytest
from checkout import SMOKE, Checkout

from attention_theory.images import fashion_mnist

DEBIAN = "/usr/share/datasets/fashion-mnist"
PREPARED = SMOKE / "images" / "data"
# The smoke run's small CNN takes no images of 32 pixels, and an overlay cannot delete it.
FOR_32_PIXELS = {"cnn": {"model": "resnet18", "width": 0, "layers": 0}}


def lay(checkout, **images):
    """Lay a configuration of the images' section over the smoke run's."""
    (checkout.folder / "change.yaml").write_text(json.dumps({"images": images}))


def test_two_workflows_may_download_at_once(tmp_path):
    checkouts = [Checkout(tmp_path / "it's one"), Checkout(tmp_path / "the other")]
    served = archives.build("cifar10", tmp_path / "served")
    named = dict(pair.split("=") for pair in archives.checksums(served))
    with archives.served(served) as (url, asked):
        shared = {"downloads": str(tmp_path / "shared"), "mirror": f"{url}/slow"}
        running = []
        for checkout in checkouts:
            lay(checkout, datasets=["cifar10"], checksums=named, models=FOR_32_PIXELS, **shared)
            command = [sys.executable, "-m", "snakemake", "--cores", "1", "--configfile"]
            command += ["config/smoke.yaml", "change.yaml", "--", str(PREPARED / "cifar10.npz")]
            running.append(
                subprocess.Popen(command, cwd=checkout.folder, stderr=subprocess.PIPE, text=True)
            )
        for process in running:
            assert process.communicate()[1] is not None and process.returncode == 0
        assert set(asked) == {"cifar-10-python.tar.gz"} and len(asked) <= 2
    one, other = (checkout.folder / PREPARED / "cifar10.npz" for checkout in checkouts)
    assert one.read_bytes() == other.read_bytes()
    left = [path.name for path in (tmp_path / "shared").rglob("*") if path.is_file()]
    assert left == ["cifar-10-python.tar.gz"]


def test_a_data_set_that_is_not_there_stops_the_run_in_one_line(tmp_path):
    checkout = Checkout(tmp_path / "here")
    lay(checkout, datasets=["svhn"], data_dir="nowhere", models=FOR_32_PIXELS)
    target = PREPARED / "svhn.npz"
    done = checkout.snakemake("change.yaml", "--cores", 1, "--", target)
    assert done.returncode != 0
    lines = [line for line in done.stdout.splitlines() if line.startswith("svhn: ")]
    assert len(lines) == 1 and "put it at nowhere/svhn/train_32x32.mat" in lines[0], done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert not (checkout.folder / target).exists()


@pytest.fixture(scope="module")
def debian():
    from pathlib import Path

    folder = Path(DEBIAN)
    if not folder.is_dir():
        pytest.skip(f"no {DEBIAN} (Debian: apt install dataset-fashion-mnist)")
    return folder


# When the publisher packed each file; with it and the name, a header is the published one again.
PACKED = {"train-images": 1504176606, "train-labels": 1504176606}
PACKED |= {"t10k-images": 1504176627, "t10k-labels": 1504176627}


def test_debians_files_are_the_published_ones(debian):
    import hashlib

    from torchvision.datasets import FashionMNIST

    for name, md5 in FashionMNIST.resources:
        content = (debian / name).read_bytes()
        assert hashlib.md5(content).hexdigest() == fashion_mnist.DEBIAN[name]
        when = PACKED["-".join(name.split("-")[:2])].to_bytes(4, "little")
        named = name.removesuffix(".gz").encode() + b"\0"
        header = b"\x1f\x8b\x08\x08" + when + content[8:10] + named
        assert hashlib.md5(header + content[10:]).hexdigest() == md5


def test_a_part_of_fashion_mnist_is_trained_on(debian, tmp_path):
    """2,000 images, five epochs: far above chance, .1, says that images and labels belong."""
    checkout = Checkout(tmp_path / "here")
    lay(
        checkout,
        datasets=["fashion_mnist"],
        data_dir=str(debian),
        split={"limit": 2000},
        models={
            "vit": {"patch": 4, "width": 32},
            "positional": None,
            "cnn": {"width": 16, "patch": 4},
        },
        training={"epochs": 5},
        seeds={"none": 0, "patch": 1, "pixel": 0},
        transfer={"draws": 0},
    )
    done = checkout.snakemake("change.yaml", "--cores", 2, "--", "images")
    assert done.returncode == 0, done.stderr[-3000:]
    table = pd.read_csv(checkout.folder / SMOKE / "images" / "accuracy.csv")
    assert set(table.dataset) == {"fashion_mnist"} and len(table) == 2
    assert (table.accuracy > 0.4).all(), table
    shown = pd.read_csv(checkout.folder / SMOKE / "images" / "similarity.csv")
    assert set(shown.dataset) == {"fashion_mnist"}
