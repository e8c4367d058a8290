#!/usr/bin/env bash
# drift.sh STACK OUT: compares the state of a stack with AWS, and changes neither. OUT/verdict is `same` or `drift`, and
# OUT/drift.md has the differences. The exit code is 0 in both cases; another code means that the check failed.
set -euo pipefail
folder=${2:?usage: drift.sh STACK OUT}
mkdir -p "$folder"
out=$(cd "$folder" && pwd)
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
require_stack "$1"

use_engine

# ExitNoChanges, the exit code of --expect-no-changes if there are changes (pulumi v3.258.0, sdk/go/common/util/cmdutil).
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
        printf 'The resources on AWS differ from the state of stack %s.\n' "$1"
        fenced "$out/refresh.log" 200
    } >"$out/drift.md"
    ;;
*) exit "$code" ;;
esac
