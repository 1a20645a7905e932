"""Data sets from files in the publishers' layouts: contents, places, and what is refused."""

import gzip
import importlib
import pickle
import struct
import tarfile
import warnings

import archives
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra import numpy as arrays

from attention_theory import files
from attention_theory.errors import BadInput
from attention_theory.images import cifar, data, fashion_mnist, svhn
from attention_theory.images.datasets import KNOWN
from attention_theory.images.settings import Split
from attention_theory.images.sources import Location

DATASETS = ["fashion_mnist", "cifar10", "cifar100", "svhn"]
N = 200


def load(dataset, folder, *checksums):
    named = [*checksums] or [word for place in set_folders(folder) for word in place]
    module = importlib.import_module(f"attention_theory.images.{dataset}")
    return module.load(Location(data_dir=folder, checksum=named))


def set_folders(folder):
    return [archives.checksums(place) for place in [folder, *folder.rglob("*")] if place.is_dir()]


@pytest.mark.parametrize("dataset", DATASETS)
def test_a_data_set_is_read_as_it_was_written(dataset, tmp_path):
    source = load(dataset, archives.build(dataset, tmp_path / "here"))
    images, labels = archives.parts(dataset, N)
    np.testing.assert_array_equal(source.images, images.reshape(-1, *images.shape[2:]))
    np.testing.assert_array_equal(source.labels, labels.ravel())
    known = KNOWN[dataset].data
    assert source.images.shape[1:] == (known.channels, known.size, known.size)
    assert source.images.dtype == np.uint8 and source.labels.dtype == np.int64
    assert (source.classes, source.test) == (known.classes, N)
    assert source.files and all(path.is_file() for path in source.files)


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_test_part_is_the_data_sets_own(dataset, tmp_path):
    source = load(dataset, archives.build(dataset, tmp_path))
    whole = data.prepare(dataset, source, Split(0, 0.1), base_seed=3)
    np.testing.assert_array_equal(whole["test"], np.arange(N, 2 * N))
    together = np.sort(np.concatenate([whole["train"], whole["validation"]]))
    np.testing.assert_array_equal(together, np.arange(N))
    assert len(whole["validation"]) == 20
    scaled = whole["images"][whole["train"]] / 255
    np.testing.assert_allclose(whole["mean"], scaled.mean((0, 2, 3)), rtol=1e-6)
    np.testing.assert_allclose(whole["std"], scaled.std((0, 2, 3)), rtol=1e-6)
    data.write(tmp_path / "whole.npz", whole)
    for key, value in data.read(tmp_path / "whole.npz").items():
        np.testing.assert_array_equal(value, whole[key])
    other = data.prepare(dataset, source, Split(0, 0.1), base_seed=4)
    assert (other["validation"] != whole["validation"]).any()
    with pytest.raises(BadInput, match="test: 0.5 .* be 0 for a data set with its own test part"):
        data.prepare(dataset, source, Split(0.5, 0.1), base_seed=3)


def test_a_limit_keeps_a_part_of_the_training_images(tmp_path):
    source = load("svhn", archives.build("svhn", tmp_path))
    kept = []
    for limit in (0, 100, 50):
        found = data.prepare("svhn", source, Split(0, 0.1, limit), base_seed=3)
        sizes = [len(found[name]) for name in ("train", "validation", "test")]
        assert sizes == [limit or 180, 20, N] and len(found["images"]) == sum(sizes)
        together = np.concatenate([found[name] for name in ("train", "validation", "test")])
        np.testing.assert_array_equal(np.sort(together), np.arange(sum(sizes)))
        kept.append({(found["images"][i].tobytes(), found["labels"][i]) for i in found["train"]})
        for name in ("validation", "test"):
            kept.append({found["images"][i].tobytes() for i in found[name]})
    assert kept[6] < kept[3] < kept[0], "a smaller limit keeps a part of a larger one's images"
    assert kept[1] == kept[4] == kept[7] and kept[2] == kept[5] == kept[8]


LAYOUTS = [
    ("fashion_mnist", "FashionMNIST/raw"),
    ("fashion_mnist", "fashion_mnist"),
    ("fashion_mnist", "fashion_mnist/FashionMNIST/raw"),
    ("fashion_mnist", "fashion-mnist"),
    ("cifar10", "cifar10"),
    ("svhn", "svhn"),
]


@pytest.mark.parametrize(("dataset", "layout"), LAYOUTS)
def test_data_dir_may_have_any_usual_layout_and_is_only_read(dataset, layout, tmp_path):
    archives.build(dataset, tmp_path / layout)
    before = sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))
    for folder in tmp_path.rglob("*"):
        folder.chmod(0o555 if folder.is_dir() else 0o444)
    assert len(load(dataset, tmp_path).images) == 2 * N
    assert before == sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))


@pytest.mark.parametrize("dataset", ["cifar10", "cifar100"])
def test_an_extracted_archive_is_read_too(dataset, tmp_path):
    packed = load(dataset, archives.build(dataset, tmp_path / "packed"))
    with tarfile.open(next((tmp_path / "packed").iterdir())) as tar:
        tar.extractall(tmp_path / "open", filter="data")
    extracted = load(dataset, tmp_path / "open")
    assert extracted.sha256 == packed.sha256 and len(extracted.files) > 1
    removed = extracted.files[1]
    removed.unlink()
    with pytest.raises(BadInput, match=f"has no {removed.name}; put it at .*MD5 [0-9a-f]{{32}}"):
        load(dataset, tmp_path / "open")


@pytest.mark.parametrize("dataset", DATASETS)
def test_a_missing_file_says_what_to_put_where(dataset, tmp_path):
    with pytest.raises(BadInput) as refused:
        load(dataset, tmp_path / "nowhere", "x=" + 32 * "0")
    line = str(refused.value)
    assert f"{dataset}: {tmp_path / 'nowhere'} has no " in line and "\n" not in line
    assert f"put it at {tmp_path / 'nowhere' / dataset}/" in line and "(from http" in line
    assert len(line.split("MD5 ")[1].split(" or ")[0].rstrip(")")) == 32


@pytest.mark.parametrize("dataset", DATASETS)
def test_a_file_whose_checksum_is_not_known_is_refused(dataset, tmp_path):
    folder = archives.build(dataset, tmp_path)
    with pytest.raises(BadInput, match="its MD5 is [0-9a-f]{32}; it must be [0-9a-f]{32}"):
        load(dataset, folder, "x=" + 32 * "0")


@pytest.mark.parametrize(
    ("pair", "said"),
    [("x", "checksum: 'x' .* read NAME=MD5"), ("x=12", "checksum: 'x=12'"), ("=" + 32 * "0", "=")],
)
def test_a_checksum_that_is_none(pair, said):
    with pytest.raises(BadInput, match=said):
        Location(checksum=[pair])
    with pytest.raises(BadInput, match="mirror: 'file:///x' .* start with http"):
        Location(mirror="file:///x")


HOSTILE = {
    "posix.system": b"cposix\nsystem\n(S'touch {flag}'\ntR.",
    "builtins.eval": b'c__builtin__\neval\n(S\'open("{flag}", "w")\'\ntR.',
    "in a list": b"(lp0\ncos\nsystem\n(S'touch {flag}'\ntRa.",
    "numpy": b"cnumpy\nsave\n(S'{flag}'\nK\x01tR.",
    "by attribute": b"\x80\x04\x8c\x05numpy\x8c\x0cndarray.dump\x93.",
    "as an array": b"cnumpy\nndarray\n(S'touch {flag}'\ntR.",
    "nested": b"(" * 100_000,
    "endless": b"\x80\x02J\xff\xff\xff",
    "a number": b"\x80\x02K\x01.",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_pickle_runs_nothing(name, tmp_path):
    flag = tmp_path / "flag"
    content = HOSTILE[name].replace(b"{flag}", str(flag).encode())
    members = archives.batches("cifar10", *archives.parts("cifar10", N))
    members["cifar-10-batches-py/data_batch_3"] = content
    (tmp_path / "cifar-10-python.tar.gz").write_bytes(archives.tarred(members))
    with pytest.raises(BadInput, match="data_batch_3 is no batch of CIFAR") as refused:
        load("cifar10", tmp_path)
    assert "\n" not in str(refused.value) and not flag.exists()


def test_the_hostile_pickles_are_hostile(tmp_path):
    flag = tmp_path / "flag"
    pickle.loads(HOSTILE["posix.system"].replace(b"{flag}", str(flag).encode()))
    assert flag.exists()


@given(arrays.arrays(np.uint8, some.tuples(some.integers(0, 4), some.just(3072))))
def test_an_unpickled_array_is_numpys(array):
    labels = list(range(len(array)))
    content = b"\x80\x02" + archives.pickled({b"data": array, b"labels": labels}) + b"."
    images, found = cifar.read_batch(content, b"labels", "here")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the old names in the pickle
        known = pickle.loads(content, encoding="bytes")
    np.testing.assert_array_equal(images.reshape(-1, 3072), known[b"data"])
    assert found.tolist() == known[b"labels"] == labels


def test_a_pickle_of_other_numbers_is_no_batch():
    array = np.zeros((2, 3072), np.uint8)
    content = b"\x80\x02" + archives.pickled({b"data": array, b"labels": [0, 1]}) + b"."
    for wrong in (
        content.replace(b"U\x02u1", b"U\x02f8"),
        content.replace(b"labels", b"labelz"),
        content.replace(b"J\x01\x00\x00\x00e", b"e"),
    ):
        assert wrong != content
        with pytest.raises(BadInput, match="here is no batch of CIFAR"):
            cifar.read_batch(wrong, b"labels", "here")


def test_an_archive_cannot_write_outside(tmp_path):
    members = {"../outside": b"x", "/outside": b"x"}
    members |= archives.batches("cifar10", *archives.parts("cifar10", N))
    folder = tmp_path / "inner"
    folder.mkdir()
    (folder / "cifar-10-python.tar.gz").write_bytes(archives.tarred(members))
    assert len(load("cifar10", folder).images) == 2 * N
    assert [path.name for path in tmp_path.rglob("*")] == ["inner", "cifar-10-python.tar.gz"]


def test_an_archive_that_lacks_a_batch_or_is_none(tmp_path):
    members = archives.batches("cifar10", *archives.parts("cifar10", N))
    content = archives.tarred(members)
    path = tmp_path / "cifar-10-python.tar.gz"
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(BadInput, match="no readable .tar.gz file"):
        load("cifar10", tmp_path)
    del members["cifar-10-batches-py/test_batch"]
    path.write_bytes(archives.tarred(members))
    with pytest.raises(BadInput, match="it lacks cifar-10-batches-py/test_batch"):
        load("cifar10", tmp_path)
    with tarfile.open(path, "w:gz") as tar:
        link = tarfile.TarInfo("cifar-10-batches-py/data_batch_1")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        tar.addfile(link)
    with pytest.raises(BadInput, match="it lacks cifar-10-batches-py/data_batch_1"):
        load("cifar10", tmp_path)


@given(
    some.integers(1, 3).flatmap(
        lambda n: arrays.arrays(np.uint8, some.tuples(*[some.integers(0, 5)] * n))
    )
)
def test_idx_files_are_read_as_they_were_written(tmp_path_factory, array):
    path = tmp_path_factory.mktemp("idx") / "a.gz"
    path.write_bytes(gzip.compress(archives.idx(array)))
    np.testing.assert_array_equal(fashion_mnist.read_idx(path, array.ndim), array)


NO_IDX = {
    "empty": b"",
    "nothing": gzip.compress(b""),
    "not gzipped": b"not gzipped",
    "cut off": gzip.compress(archives.idx(np.zeros((3, 2, 2))))[:-12],
    "a byte too few": gzip.compress(archives.idx(np.zeros((3, 2, 2)))[:-1]),
    "a byte too many": gzip.compress(archives.idx(np.zeros((3, 2, 2))) + b"x"),
    "too few dimensions": gzip.compress(archives.idx(np.zeros((3, 2)))),
    "another type": gzip.compress(struct.pack(">4I", 0x0D03, 0, 0, 0)),
    "huge": gzip.compress(struct.pack(">4I", 0x0803, 2**32 - 1, 2**32 - 1, 2**32 - 1)),
}


@pytest.mark.parametrize("content", NO_IDX.values(), ids=NO_IDX)
def test_what_is_no_idx_file(content, tmp_path):
    (tmp_path / "a.gz").write_bytes(content)
    with pytest.raises(BadInput, match="a.gz: no "):
        fashion_mnist.read_idx(tmp_path / "a.gz", 3)


def test_what_is_no_svhn_file(tmp_path):
    from scipy.io import savemat

    path = tmp_path / "train_32x32.mat"
    path.write_bytes(b"x" * 200)
    with pytest.raises(BadInput, match="no readable MATLAB file"):
        svhn.read(path)
    savemat(path, {"X": np.zeros((32, 32, 3, 2), np.uint8)})
    with pytest.raises(BadInput, match="no readable MATLAB file with X and y"):
        svhn.read(path)
    savemat(path, {"X": np.zeros((32, 32, 2), np.uint8), "y": np.ones((2, 1))})
    with pytest.raises(BadInput, match="X is .32, 32, 2.; it must be"):
        svhn.read(path)
    savemat(path, {"X": np.zeros((32, 32, 3, 2), np.uint8), "y": np.array([[1], [0]])})
    with pytest.raises(BadInput, match="1 labels out of range .the first: image 1 has 0.* 1 .. 10"):
        svhn.read(path)


def tiny(**changes):
    """A source of 20 images in 10 classes, changed."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (20, 1, 4, 4), np.uint8)
    return data.Source(images, np.arange(20) % 10, 10, "0")._replace(**changes)


CONSTANT = np.zeros((20, 1, 4, 4), np.uint8)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"labels": np.arange(20)}, "10 labels out of range .the first: image 10 has 10.* 0 .. 9"),
        ({"labels": np.arange(20) % 10 - 1}, "2 labels out of range .the first: image 0 has -1"),
        ({"classes": 11}, "'10 classes' .* have 11 classes with training images .class 10 has"),
        ({"labels": np.arange(20) % 9}, "'9 classes' .* .class 9 has none"),
        ({"labels": np.arange(19) % 10}, "'19 labels' is not allowed; it must be 20"),
        ({"images": CONSTANT[..., :2]}, "square|size, size"),
        ({"images": CONSTANT.astype(float)}, "float64 .* be uint8"),
        ({"images": CONSTANT}, "a channel of one value"),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(changes, said):
    with pytest.raises(BadInput, match=said) as refused:
        data.prepare("tiny", tiny(**changes), Split(0.2, 0.2), base_seed=0)
    assert "\n" not in str(refused.value)


def test_classes_of_the_test_part_do_not_stand_in_for_the_train_part():
    source = tiny(test=10, labels=np.concatenate([np.arange(10) % 9, np.arange(10)]))
    with pytest.raises(BadInput, match="class 9 has none"):
        data.prepare("tiny", source, Split(0, 0.2), base_seed=0)


def test_the_step_names_its_input_files(call, tmp_path):
    folder = archives.build("svhn", tmp_path / "here", n=20)
    words = "--test 0 --validation .1 --base-seed 0 --output d.npz --provenance p.json --data-dir"
    named = [f"--checksum={pair}" for pair in archives.checksums(folder)]
    code, said = call("svhn", *words.split(), folder, *named)
    assert code == 0, said
    inputs = files.json.loads((tmp_path / "p.json").read_text())["inputs"]
    assert inputs == {str(path): files.sha256(path) for path in sorted(folder.iterdir())}
