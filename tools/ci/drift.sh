#!/usr/bin/env bash
# drift.sh STACK OUT: holds the state of a stack against what stands on AWS, and changes neither. OUT/verdict is
# `same` or `drift`, and OUT/drift.md tells which. Exit code 0 in both cases: what fails is the looking.
set -euo pipefail
folder=${2:?usage: drift.sh STACK OUT}
mkdir -p "$folder"
out=$(cd "$folder" && pwd)
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
require_stack "$1"

pulumi=$("$root/.venv/bin/python" -c 'from slipway import toolchain; print(toolchain.ensure("pulumi"))')
PATH=$(dirname "$pulumi"):$PATH
export PATH

# ExitNoChanges, what --expect-no-changes ends with where there are some (pulumi v3.258.0, sdk/go/common/util/cmdutil).
changes=7
code=0
rm -f "$out/drift.md"
slipway refresh "$1" -- --preview-only --expect-no-changes --diff --non-interactive >"$out/refresh.log" 2>&1 || code=$?
cat "$out/refresh.log"
case $code in
0) echo same >"$out/verdict" ;;
"$changes")
    echo drift >"$out/verdict"
    {
        printf 'What stands on AWS is not what the state of stack %s says.\n' "$1"
        fenced "$out/refresh.log" 200
    } >"$out/drift.md"
    ;;
*) exit "$code" ;;
esac
