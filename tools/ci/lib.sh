# Sourced by the scripts beside it: runs the checkout's code and that of the base commit. Needs bash 4 or newer.
# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit
before=$root/build/ci/before

# Only such names may become part of a path or a command: the files of a pull request may have any name.
require_stack() {
    if ! [[ ${1-} =~ ^[a-z][a-z0-9-]{0,40}$ ]]; then
        echo "error: a stack's name has lower-case letters, digits and hyphens; got '${1-}'" >&2
        exit 2
    fi
}

# Runs the checkout's own code, even if the environment was installed from elsewhere.
slipway() {
    PYTHONPATH=$root "$root/.venv/bin/python" -m slipway "$@"
}

# The engine and its plugins, which `python -m sandbox.toolchain pipeline` got and verified before credentials were here:
# with them nothing is fetched or built, and what the runner's image brings is not used.
use_engine() {
    local pulumi
    pulumi=$("$root/.venv/bin/python" -c 'from sandbox import toolchain; print(toolchain.find("pulumi", pinned=True) or "")')
    if [ -z "$pulumi" ]; then
        echo "error: no pulumi here: run \`.venv/bin/python -m sandbox.toolchain pipeline\` without credentials" >&2
        exit 1
    fi
    PATH=$(dirname "$pulumi"):$PATH
    export PATH PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true
}

# `slipway` for the tree before the change.
slipway_before() (
    cd "$before" || exit
    PYTHONPATH=$before .venv/bin/python -m slipway "$@"
)

# checkout_before REF: checks out the tree of a commit, with its environment.
checkout_before() {
    rm -rf "$before"
    mkdir -p "$before"
    git archive "$1" | tar -x -C "$before"
    if cmp -s requirements.lock "$before/requirements.lock"; then
        ln -s "$root/.venv" "$before/.venv"
    else
        "$before/tools/setup.sh"
    fi
}

# fenced FILE [LINES]: prints the end of a log as a code block for a comment; the log can't close the block.
fenced() {
    printf '\n~~~~~text\n'
    tail -n "${2:-60}" "$1" | sed -e 's/\x1b\[[0-9;]*m//g' -e 's/~~~~/~ ~ /g'
    printf '~~~~~\n'
}
