#!/usr/bin/env bash
# Makes .venv from requirements.lock and installs this project into it; does nothing when that has been done.
# Every package is checked by its hash, and nothing else is fetched: the build backend and uv are in the lock file too.
# An interrupted run leaves no stamp, so the next one goes on; an environment that does not run is made anew.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stamp=.venv/.slipway-setup
# The path counts: an environment that was moved or copied with its checkout points to the old place.
wanted="$(cat requirements.lock pyproject.toml tools/setup.sh | cksum) $PWD"
supported='import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'

if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && .venv/bin/python -c "$supported"; then
    exit 0
fi

find_python() {
    for candidate in ${SLIPWAY_PYTHON:-python3.13 python3.12 python3.11 python3 python}; do
        if "$candidate" -c "$supported" >/dev/null 2>&1; then
            command -v "$candidate"
            return
        fi
    done
    echo "error: no Python 3.11, 3.12 or 3.13 here: install one, or name it with SLIPWAY_PYTHON=/path/to/python" >&2
    return 1
}

# uv as found; else the one of the lock file, by pip, into build/ so that the machine stays as it is.
find_uv() {
    if uv --version >/dev/null 2>&1; then
        echo uv
        return
    fi
    if [ ! -x build/uv/bin/uv ]; then
        awk '/^uv==/ {on = 1} on {print} on && !/\\$/ {exit}' requirements.lock >"$1"
        "$python" -m pip install --quiet --no-deps --require-hashes --upgrade --target build/uv -r "$1" >&2 || {
            echo "error: neither uv nor pip works: install uv (https://docs.astral.sh/uv/), or pip for $python" >&2
            return 1
        }
    fi
    echo build/uv/bin/uv
}

python=$(find_python)
requirement=$(mktemp)
trap 'rm -f "$requirement"' EXIT
uv=$(find_uv "$requirement")

rm -f "$stamp"
if ! { [ -x .venv/bin/python ] && .venv/bin/python -c "$supported"; } 2>/dev/null; then
    "$uv" venv --quiet --no-python-downloads --clear --python "$python" .venv
fi
"$uv" pip sync --python .venv/bin/python --require-hashes requirements.lock
"$uv" pip install --quiet --python .venv/bin/python --no-index --no-deps --no-build-isolation --editable .
echo "$wanted" >"$stamp"
