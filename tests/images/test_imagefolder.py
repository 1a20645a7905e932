"""Image folders in ImageNet's layout: the index, decoding, and folders that do not fit."""

import shutil
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from attention_theory import files, progress
from attention_theory.errors import BadInput
from attention_theory.images import data, decoding, imagefolder
from attention_theory.images.settings import Frame, Split
from attention_theory.images.sources import Location

FRAME = Frame(size=8, resize=10, classes=3)
STEP = "--size 8 --resize 10 --classes 3 --test 0 --validation .25 --base-seed 0".split()
STEP += "--output", "d.npz"
KINDS = {  # what real folders hold: few are all RGB
    "rgb.JPEG": ("RGB", "JPEG", (40, 30)),
    "grey.jpg": ("L", "JPEG", (12, 50)),
    "cmyk.JPEG": ("CMYK", "JPEG", (30, 30)),
    "tiny.png": ("RGB", "PNG", (3, 5)),
    "palette.png": ("P", "PNG", (20, 21)),
    "transparent.png": ("RGBA", "PNG", (21, 20)),
    "a png in disguise.JPEG": ("RGB", "PNG", (16, 16)),
    "naïve.webp": ("RGB", "WEBP", (16, 16)),
}


def picture(mode, size, seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 256, (*size[::-1], 3), np.uint8)
    return Image.fromarray(values).convert(mode)


@pytest.fixture
def folder(tmp_path):
    """train and val with three classes of eight images each, of every kind."""
    for number, (part, name) in enumerate(
        (part, name) for part in ("train", "val") for name in ("cat", "dog", "newt")
    ):
        place = tmp_path / "here" / part / name
        place.mkdir(parents=True)
        for index, (file, (mode, kind, size)) in enumerate(KINDS.items()):
            options = {"transparency": 3} if file == "palette.png" else {}
            picture(mode, size, [number, index]).save(place / file, kind, **options)
    (tmp_path / "here" / "train" / "cat" / ".hidden").touch()
    (tmp_path / "here" / "train" / "notes.txt").touch()
    return tmp_path / "here"


def prepared(folder, split=None):
    source = imagefolder.load(Location(data_dir=folder), FRAME)
    return data.prepare("imagefolder", source, split or Split(0, 0.25), base_seed=0)


def test_the_index_names_every_image(folder, tmp_path):
    whole = prepared(folder)
    assert whole["images"].shape == (48, 3, 8, 8)
    names = [
        f"{part}/{name}/{file}"
        for part in ("train", "val")
        for name in ("cat", "dog", "newt")
        for file in sorted(KINDS)
    ]
    assert [path.decode() for path in whole["images"].paths] == names
    np.testing.assert_array_equal(whole["labels"], np.tile(np.repeat(np.arange(3), 8), 2))
    np.testing.assert_array_equal(whole["test"], np.arange(24, 48))
    assert len(whole["validation"]) == 6 and whole["classes"] == 3
    data.write(tmp_path / "d.npz", whole)
    again = data.read(tmp_path / "d.npz")
    decoded = again["images"][np.arange(48)]
    np.testing.assert_array_equal(decoded, whole["images"][np.arange(48)])
    assert decoded.shape == again["images"].shape and len(again["images"]) == 48
    scaled = decoded[again["train"]] / 255
    np.testing.assert_allclose(again["mean"], scaled.mean((0, 2, 3)), rtol=1e-6)
    np.testing.assert_allclose(again["std"], scaled.std((0, 2, 3)), rtol=1e-6)
    data.write(tmp_path / "e.npz", prepared(folder))
    assert (tmp_path / "e.npz").read_bytes() == (tmp_path / "d.npz").read_bytes()


def test_a_limit_keeps_a_part_of_the_index(folder):
    whole, part = prepared(folder), prepared(folder, Split(0, 0.25, limit=5))
    assert [len(part[name]) for name in ("train", "validation", "test")] == [5, 6, 24]
    kept = set(part["images"].paths[part["train"]])
    assert kept < set(whole["images"].paths[whole["train"]])


@pytest.mark.parametrize("size", [(40, 30), (9, 33), (10, 10), (5, 7)])
def test_a_square_is_cut_from_the_middle_of_a_scaled_image(size, tmp_path):
    """Against scaling first and cutting then; the middle may differ by half a pixel."""
    columns = np.linspace(0, 255, size[0])[None].repeat(size[1], 0)
    rows = np.linspace(0, 255, size[1])[:, None].repeat(size[0], 1)
    values = np.stack([columns, rows, rows * 0 + 7], axis=-1).astype(np.uint8)
    Image.fromarray(values).save(tmp_path / "a.png")
    found = decoding.decode(tmp_path / "a.png", 8, 10).astype(int)
    scale = 10 / min(size)
    whole = Image.fromarray(values).resize(
        [round(side * scale) for side in size], Image.Resampling.BILINEAR
    )
    left, top = ((side - 8) // 2 for side in whole.size)
    slow = np.asarray(whole)[top : top + 8, left : left + 8].transpose(2, 0, 1).astype(int)
    assert found.shape == (3, 8, 8)
    assert np.abs(found - slow).max() <= 255 / (min(whole.size) - 1) + 2
    np.testing.assert_array_equal(found[2], 7)


def test_grey_and_cmyk_keep_their_colours(tmp_path):
    Image.new("L", (9, 9), 100).save(tmp_path / "grey.jpg")
    Image.new("RGB", (9, 9), (200, 30, 60)).convert("CMYK").save(tmp_path / "cmyk.jpg")
    np.testing.assert_allclose(decoding.decode(tmp_path / "grey.jpg", 4, 4), 100, atol=2)
    found = decoding.decode(tmp_path / "cmyk.jpg", 4, 4).mean((1, 2))
    np.testing.assert_allclose(found, (200, 30, 60), atol=4)


def test_a_relative_folder_is_found_from_anywhere_and_names_no_place(folder, tmp_path, monkeypatch):
    """The index of two checkouts has the same bytes; it is read from any working folder."""
    expected = prepared(folder)["images"][np.arange(48)]
    indices = []
    for checkout in (tmp_path / "one", tmp_path / "elsewhere" / "two"):
        shutil.copytree(folder, checkout / "data" / "imagefolder")
        monkeypatch.chdir(checkout)
        source = imagefolder.load(Location(downloads=Path("data")), FRAME)
        index = Path("results") / "images" / "d.npz"
        data.write(index, data.prepare("imagefolder", source, Split(0, 0.25), base_seed=0))
        indices.append(checkout / index)
    assert indices[0].read_bytes() == indices[1].read_bytes()
    monkeypatch.chdir("/")
    (tmp_path / "one").rename(tmp_path / "moved")
    shutil.rmtree(folder)
    for index in (tmp_path / "moved" / "results" / "images" / "d.npz", indices[1]):
        read = data.read(index)
        np.testing.assert_array_equal(read["images"][np.arange(48)], expected)
        assert data.identity(read) == data.identity(data.read(indices[1]))
    (tmp_path / "moved" / "data").rename(tmp_path / "gone")
    said = f"{tmp_path}/moved/data/imagefolder: no such folder: it had the images when"
    with pytest.raises(BadInput, match=said):
        data.read(tmp_path / "moved" / "results" / "images" / "d.npz")["images"][np.arange(2)]


def test_the_identity_of_a_data_set_is_all_but_where_it_lies(folder, tmp_path):
    one = prepared(folder)
    folder.rename(tmp_path / "there")
    assert data.identity(prepared(tmp_path / "there")) == data.identity(one)
    assert data.identity(prepared(tmp_path / "there", Split(0, 0.3))) != data.identity(one)
    label = one | {"labels": one["labels"][::-1]}
    assert data.identity(label) != data.identity(one)


def test_decoding_takes_the_memory_of_the_images_and_shows_where_it_is(folder, monkeypatch, capsys):
    images = decoding.Images(
        *(getattr(prepared(folder)["images"], k) for k in decoding.Images.KEYS)
    )
    images.shape, grey = (48, 3, 128, 128), np.full((3, 128, 128), 7, np.uint8)
    monkeypatch.setattr(decoding, "decode", lambda *_: grey.copy())
    monkeypatch.setattr(decoding, "CHUNK", 6)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0)
    tracemalloc.start()
    found = images[np.arange(48)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found == 7).all() and found.shape == images.shape
    assert peak < 1.3 * found.nbytes
    assert "images decoded: 24/48" in capsys.readouterr().err


def break_images(folder):
    """Damage four images, two of each part, in four ways."""
    whole = (folder / "train" / "cat" / "rgb.JPEG").read_bytes()
    (folder / "train" / "cat" / "rgb.JPEG").write_bytes(whole[: len(whole) // 2])
    (folder / "train" / "newt" / "grey.jpg").write_bytes(b"")
    (folder / "val" / "dog" / "tiny.png").write_bytes(b"a text")
    deep = Image.fromarray(np.full((20, 20), 999, np.uint16))
    deep.save(folder / "val" / "dog" / "palette.png")


def test_broken_images_are_named_counted_and_stop_the_preparation(folder):
    break_images(folder)
    with pytest.raises(BadInput) as refused:
        prepared(folder)
    line = str(refused.value)
    assert line.startswith(f"{folder}: 4 of 48 images cannot be decoded: ") and "\n" not in line
    assert "train/cat/rgb.JPEG (" in line and "train/newt/grey.jpg (cannot identify" in line
    assert "1 more; replace or remove them" in line
    (folder / "train" / "cat" / "rgb.JPEG").unlink()
    (folder / "train" / "newt" / "grey.jpg").unlink()
    with pytest.raises(BadInput, match="2 of 46 .*palette.png .its mode I;16 is none of.*tiny.png"):
        prepared(folder)


def test_an_image_that_changed_since_is_named(folder):
    whole = prepared(folder)
    path = folder / "train" / "dog" / "rgb.JPEG"
    shutil.copy(folder / "train" / "dog" / "grey.jpg", path)
    chosen = np.flatnonzero(whole["images"].paths == b"train/dog/rgb.JPEG")
    with pytest.raises(BadInput, match="1 of 48 .*dog/rgb.JPEG .[0-9]+ bytes, [0-9]+ when"):
        whole["images"][chosen]
    path.unlink()
    with pytest.raises(BadInput, match="train/dog/rgb.JPEG .*No such file"):
        whole["images"][chosen]


def test_folders_that_do_not_fit(folder, tmp_path):
    def refused(said, place=folder, frame=FRAME):
        with pytest.raises(BadInput, match=said) as error:
            imagefolder.load(Location(data_dir=place), frame)
        assert "\n" not in str(error.value)

    refused("no folder train in .*none; put train/<class>/<image> .* into ", tmp_path / "none")
    refused("classes: 4 is not allowed; it must be 3, the class folders", frame=Frame(8, 8, 4))
    (folder / "train" / "cat" / "more").mkdir()
    refused("'more' is not allowed; it must be an image's file")
    (folder / "train" / "cat" / "more").rmdir()
    (folder / "val" / "dog").rename(folder / "val" / "god")
    refused("'dog' is not allowed; it must be a class of both train and val")
    (folder / "val" / "god").rename(folder / "val" / "dog")
    shutil.rmtree(folder / "val" / "dog")
    (folder / "val" / "dog").mkdir()
    refused("val/dog: no images")
    shutil.rmtree(folder / "val")
    refused("val: no such folder; it must hold <class>/<image>")
    shutil.rmtree(folder / "train")
    (folder / "train").mkdir()
    refused("train: no class folders")


@pytest.mark.parametrize(
    ("sizes", "said"),
    [((0, 8, 2), "size: 0"), ((8, 7, 2), "resize: 7 .* at least size = 8"), ((8, 8, 0), "classes")],
)
def test_a_frame_that_is_none(sizes, said):
    with pytest.raises(BadInput, match=said):
        Frame(*sizes)


def test_a_folder_is_prepared_and_trained_on_by_the_steps(folder, call, tmp_path):
    code, said = call("imagefolder", *STEP, "--data-dir", folder)
    assert code == 0, said
    words = "--data d.npz --permutation patch --patch 2 --base-seed 0 --output o.npz"
    assert call("permutation", *words.split())[0] == 0
    words = (
        "--setting t --data d.npz --permutation o.npz --model vit --attention self --patch 2 "
        "--width 8 --layers 1 --heads 2 --mlp 8 --position-std .02 --epochs 1 --batch 6 "
        "--rate .001 --weight-decay 0 --smoothing 0 --shift 1 --seeds 1 --base-seed 0 "
        "--table t.csv --models m --snapshots s"
    )
    code, said = call("training", *words.split())
    assert code == 0, said
    assert "imagefolder,vit,self,2,patch,0," in (tmp_path / "t.csv").read_text()


def test_the_step_stops_at_a_broken_image(folder, call, tmp_path):
    break_images(folder)
    code, error = call("imagefolder", *STEP, "--data-dir", folder)
    assert code == 2 and error.count("\n") == 1 and "4 of 48 images cannot be decoded" in error
    assert not (tmp_path / "d.npz").exists()


def test_an_index_is_read_with_the_format_it_was_written_in(folder, tmp_path):
    data.write(tmp_path / "d.npz", prepared(folder))
    arrays = files.read_arrays(tmp_path / "d.npz")
    del arrays["lengths"]
    files.write_arrays(tmp_path / "d.npz", **arrays)
    with pytest.raises(BadInput, match="no prepared data set .it lacks images"):
        data.read(tmp_path / "d.npz")
