#!/bin/sh
# Create .venv with the locked versions: setup.sh PYTHON STAMP. The stamp is written last, so that
# an interrupted set-up starts again.
set -eu
python=$1
stamp=$2
if ! command -v "$python" >/dev/null 2>&1; then
    echo "set-up: $python not found; it must be a Python 3.11 (make PYTHON=/path/to/python3.11)" >&2
    exit 1
fi
"$python" envs/check.py
# One set-up at a time in a folder; the lock ends with the last process that has the file open.
mkdir -p .snakemake
exec 9>.snakemake/set-up
if ! "$python" -c "import fcntl; fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)" 2>/dev/null; then
    echo "set-up: another make sets this folder up; wait for it" >&2
    exit 1
fi
echo "set-up: installing the locked versions into .venv (about 2 minutes, 6 GB)"
"$python" -m venv --clear .venv
.venv/bin/python -m pip install -qq --disable-pip-version-check --require-hashes \
    --requirement envs/requirements.lock
.venv/bin/python -m pip install -qq --disable-pip-version-check --no-deps \
    --no-build-isolation --editable .
touch "$stamp"
