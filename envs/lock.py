"""Renew the lock (`make lock`): resolve pyproject.toml and write every version with its hash.

Writes requirements.lock, which `make` installs, and environment.yaml for conda users, made from
the same resolution.
"""

import hashlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import unquote, urlparse

HERE = Path(__file__).resolve().parent
LOCK, CONDA = HERE / "requirements.lock", HERE / "environment.yaml"


def resolve() -> list[tuple[str, str, str]]:
    """Name, version and SHA-256 of every package that the project and its tests need."""
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["dev"]
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
    command += ["--quiet", "--report", "-", *wanted]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return sorted(
        (plain_name(item["metadata"]["name"]), item["metadata"]["version"], sha(item))
        for item in report["install"]
    )


def plain_name(name: str) -> str:
    """A package's name as pip prints it, whatever its spelling."""
    return re.sub(r"[-_.]+", "-", name).lower()


def sha(item: dict) -> str:
    """The hash of a resolved package's file; pip knows it unless the file lies on this disk."""
    download = item["download_info"]
    known = download.get("archive_info", {}).get("hashes", {}).get("sha256")
    if known:
        return known
    path = Path(unquote(urlparse(download["url"]).path))
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def requirements(packages: list[tuple[str, str, str]]) -> str:
    lines = ["# Made by `make lock` from pyproject.toml: Python 3.11, Linux x86_64."]
    lines += [f"{name}=={version} --hash=sha256:{digest}" for name, version, digest in packages]
    return "\n".join(lines) + "\n"


def environment(packages: list[tuple[str, str, str]]) -> str:
    lines = [
        "# Made by `make lock`, the same versions as requirements.lock:",
        "# conda env create --file envs/environment.yaml",
        "name: attention-theory",
        "channels: [conda-forge]",
        "dependencies:",
        "  - python=3.11",
        "  - pip",
        "  - pip:",
    ]
    lines += [f"      - {name}=={version}" for name, version, _ in packages]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    resolved = resolve()
    LOCK.write_text(requirements(resolved))
    CONDA.write_text(environment(resolved))
