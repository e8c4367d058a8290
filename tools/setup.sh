#!/usr/bin/env bash
# Creates .venv from requirements.lock and installs this project into it; does nothing if .venv is current.
# Every package is verified by its hash, and nothing else is downloaded: the lock file includes the build backend and uv.
# An interrupted run leaves no stamp, so the next one continues; an environment that does not run is recreated.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stamp=.venv/.slipway-setup
# The path is part of it: an environment that was moved or copied with its checkout refers to the old path.
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
    echo "error: no Python 3.11, 3.12 or 3.13 found: install one, or set SLIPWAY_PYTHON=/path/to/python" >&2
    return 1
}

# The installed uv; else that of the lock file, installed by pip into build/, so that the machine is unchanged.
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

# Compile once: with PYTHONDONTWRITEBYTECODE, every process of the engine and of the tests compiles the SDKs again (a
# rendering of prod took 10.6 s instead of 5.4 s, 2026-11). Of pulumi_aws only the services in use: all of it takes 12 s
# and 150 MB. A failure is ignored.
site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
services=$(grep -rhoE '\baws\.[a-z0-9]+\.' --include='*.py' infra components | cut -d. -f2 | sort -u)
compiled=(spec infra components sandbox slipway policies "$site"/{pulumi,grpc,google,pydantic,requests,urllib3,yaml,opentelemetry}
    "$site"/pulumi_aws/*.py "$site"/pulumi_kubernetes/{helm,yaml})
for service in $services; do
    [ ! -d "$site/pulumi_aws/$service" ] || compiled+=("$site/pulumi_aws/$service")
done
.venv/bin/python -m compileall -q -j 2 "${compiled[@]}" >/dev/null || true
echo "$wanted" >"$stamp"
