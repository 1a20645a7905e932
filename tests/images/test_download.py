"""Downloads over HTTP on loopback: whole and verified, or one line and nothing left behind."""

import contextlib
import errno
import hashlib
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time

import archives
import pytest

from attention_theory.errors import BadInput
from attention_theory.images import cifar10, download
from attention_theory.images.download import File
from attention_theory.images.sources import Location

CONTENT = bytes(range(256)) * 1024


@pytest.fixture
def server(tmp_path):
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "data.bin").write_bytes(CONTENT)
    with archives.served(tmp_path / "served") as (url, asked):
        yield url, asked


def published(url, how="well"):
    return File("data.bin", f"{url}/{how}/data.bin", (hashlib.md5(CONTENT).hexdigest(),))


def refused(file, folder):
    """The one line of a download that fails; it leaves nothing behind."""
    with pytest.raises(BadInput) as error:
        download.fetch(file, folder / "data.bin")
    line = str(error.value)
    assert line.startswith(f"{folder / 'data.bin'}: not downloaded from {file.url}: ")
    assert f"put the file there by hand (its MD5 must be {file.md5[0]})" in line
    assert "\n" not in line
    assert not folder.exists() or not list(folder.iterdir())
    return line


def test_a_download_is_whole_and_has_the_usual_permissions(server, tmp_path):
    download.fetch(published(server[0]), tmp_path / "new" / "below" / "data.bin")
    path = tmp_path / "new" / "below" / "data.bin"
    assert path.read_bytes() == CONTENT and list(path.parent.iterdir()) == [path]
    (tmp_path / "usual").touch()
    assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("gone", "HTTP Error 404: Not Found"),
        ("cut", f"it ended after {len(CONTENT) // 2} of {len(CONTENT)} bytes"),
        ("unsized", "its MD5 is [0-9a-f]{32}"),
        ("wrong", "its MD5 is [0-9a-f]{32}"),
        ("silent", "timed out"),
    ],
)
def test_a_server_that_fails(server, tmp_path, monkeypatch, how, said):
    monkeypatch.setattr(download, "STALLED", 0.3)
    assert re.search(said, refused(published(server[0], how), tmp_path / "new"))
    download.fetch(published(server[0]), tmp_path / "new" / "data.bin")


def test_a_dead_server(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    line = refused(published(f"http://127.0.0.1:{port}"), tmp_path / "new")
    assert "Connection refused" in line


def test_no_server_of_that_name(tmp_path):
    refused(published("http://no-such-host.invalid"), tmp_path / "new")
    refused(published("http://[bad"), tmp_path / "new")


@contextlib.contextmanager
def full_disk(folder):
    """A file system of 64 KiB, where the system lets us mount one."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("no right to mount a small file system")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk(server, tmp_path):
    with full_disk(tmp_path / "small"):
        line = refused(published(server[0]), tmp_path / "small")
    assert os.strerror(errno.ENOSPC) in line


def test_a_quota(server, tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, limits[1]))
    try:
        line = refused(published(server[0]), tmp_path / "new")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert os.strerror(errno.EFBIG) in line


def test_a_folder_that_cannot_be(server, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="file/data.bin: not downloaded .* File exists"):
        download.fetch(published(server[0]), tmp_path / "file" / "data.bin")


def test_several_at_once_do_no_harm(server, tmp_path):
    failed = []

    def fetch():
        try:
            download.fetch(published(server[0], "slow"), tmp_path / "new" / "data.bin")
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=fetch) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        path = tmp_path / "new" / "data.bin"
        assert not path.exists() or path.read_bytes() == CONTENT
        time.sleep(0.05)
    assert not failed and len(server[1]) == 4
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["data.bin"]


def located(tmp_path, url, how="well"):
    """Where the tests' data sets are: downloaded to `data` from a server that has `served`."""
    named = archives.checksums(tmp_path / "served")
    return Location(downloads=tmp_path / "data", mirror=f"{url}/{how}/", checksum=named)


def test_a_data_set_is_downloaded_once(server, tmp_path):
    url, asked = server
    archives.build("cifar10", tmp_path / "served")
    first = cifar10.load(located(tmp_path, url))
    assert asked == ["cifar-10-python.tar.gz"]
    assert first.files == (tmp_path / "data" / "cifar10" / "cifar-10-python.tar.gz",)
    second = cifar10.load(located(tmp_path, url))
    assert first.sha256 == second.sha256 and len(asked) == 1
    first.files[0].write_bytes(b"damaged since")
    with pytest.raises(BadInput, match="cifar-10-python.tar.gz: its MD5 is .*; it must be"):
        cifar10.load(located(tmp_path, url))
    assert first.files[0].read_bytes() == b"damaged since", "a user's file is not overwritten"


def test_nothing_is_downloaded_for_a_folder_that_the_user_names(server, tmp_path):
    url, asked = server
    archives.build("cifar10", tmp_path / "served")
    (tmp_path / "empty").mkdir()
    named = archives.checksums(tmp_path / "served")
    with pytest.raises(BadInput, match="has no cifar-10-python.tar.gz; put it at"):
        cifar10.load(Location(tmp_path / "empty", tmp_path / "data", f"{url}/well", named))
    assert asked == [] and not (tmp_path / "data").exists()


def step(tmp_path, url, how):
    words = "--test 0 --validation .1 --base-seed 0 --output d.npz --downloads data".split()
    words += [f"--checksum={pair}" for pair in archives.checksums(tmp_path / "served")]
    words += ["--mirror", f"{url}/{how}"]
    return [sys.executable, "-m", "attention_theory.images.cifar10", *words]


def test_a_terminated_download_leaves_nothing(server, tmp_path):
    archives.build("cifar10", tmp_path / "served")
    process = subprocess.Popen(step(tmp_path, server[0], "slow"), cwd=tmp_path)
    until = time.monotonic() + 60
    while not list(tmp_path.glob("data/cifar10/.*.part")) and time.monotonic() < until:
        time.sleep(0.02)
    assert list(tmp_path.glob("data/cifar10/.*.part"))
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM
    assert not list(tmp_path.glob("data/cifar10/*")) and not (tmp_path / "d.npz").exists()


def test_what_a_killed_download_left_goes_and_a_live_ones_stays(server, tmp_path):
    folder, long_ago = tmp_path / "a [1]", time.time() - 2 * download.DEAD
    folder.mkdir()
    for name in (".data.bin.dead.part", ".data.bin.live.part", ".other.bin.dead.part"):
        (folder / name).write_bytes(CONTENT[:9])
        if "live" not in name:
            os.utime(folder / name, (long_ago, long_ago))
    download.fetch(published(server[0]), folder / "data.bin")
    left = {path.name for path in folder.iterdir()}
    assert left == {"data.bin", ".data.bin.live.part", ".other.bin.dead.part"}


def test_the_step_fails_in_one_line(server, tmp_path):
    archives.build("cifar10", tmp_path / "served")
    command = step(tmp_path, server[0], "cut")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("cifar10: data/cifar10/cifar-10-python.tar.gz: not downloaded")
    assert "it ended after" in done.stderr and not (tmp_path / "d.npz").exists()
