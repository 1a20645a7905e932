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
# One set-up at a time in a folder, and none under a run; a lock ends with the last process that has
# the file open. Where a file system has no locks there are none.
mkdir -p .snakemake
lock() {
    "$python" -c "
import fcntl, sys
try:
    fcntl.flock($1, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit('set-up: $2; wait for it')
except OSError:
    pass
"
}
exec 9>.snakemake/set-up
lock 9 "another make sets this folder up"
if [ -e "$stamp" ]; then # that other make has ended meanwhile
    exit 0
fi
exec 8>>.snakemake/running
lock 8 "a run works in this folder, in the old .venv"
echo "set-up: installing the locked versions into .venv (about 2 minutes, 6 GB)"
"$python" -m venv --clear .venv
.venv/bin/python -m pip install -qq --disable-pip-version-check --require-hashes \
    --requirement envs/requirements.lock
.venv/bin/python -m pip install -qq --disable-pip-version-check --no-deps \
    --no-build-isolation --editable .
touch "$stamp"
