# Sourced by the scripts beside it: which code runs, and what a change is compared with. Shell of bash 4 or newer.
# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit
before=$root/build/ci/before

# Only such names come near a path or a command: the files of a pull request may be called anything.
require_stack() {
    if ! [[ ${1-} =~ ^[a-z][a-z0-9-]{0,40}$ ]]; then
        echo "error: a stack is named by small letters, digits and hyphens; got '${1-}'" >&2
        exit 2
    fi
}

# The checkout's own code, wherever the environment was installed from.
slipway() {
    PYTHONPATH=$root "$root/.venv/bin/python" -m slipway "$@"
}

# The same of the tree before the change.
slipway_before() (
    cd "$before" || exit
    PYTHONPATH=$before .venv/bin/python -m slipway "$@"
)

# checkout_before REF: the tree of a commit, with an environment that belongs to it.
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

# fenced FILE [LINES]: the end of a log as a code block of a comment; the log can't end the block itself.
fenced() {
    printf '\n~~~~~text\n'
    tail -n "${2:-60}" "$1" | sed -e 's/\x1b\[[0-9;]*m//g' -e 's/~~~~/~ ~ /g'
    printf '~~~~~\n'
}
