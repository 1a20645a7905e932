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
echo "set-up: installing the locked versions into .venv (about 2 minutes, 6 GB)"
"$python" -m venv --clear .venv
.venv/bin/python -m pip install -qq --disable-pip-version-check --require-hashes \
    --requirement envs/requirements.lock
.venv/bin/python -m pip install -qq --disable-pip-version-check --no-deps \
    --no-build-isolation --editable .
touch "$stamp"
