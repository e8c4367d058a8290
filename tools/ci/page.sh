#!/usr/bin/env bash
# page.sh STACK OUT [BASE]: what a change does to a stack, without an engine and without credentials. OUT gets the page
# (index.html), the comment (comment.md), the rendered difference (render.diff) and the cost (cost.txt).
# Exit code 2: the settings are refused, and the comment says why.
set -euo pipefail
folder=${2:?usage: page.sh STACK OUT [BASE]}
mkdir -p "$folder"
out=$(cd "$folder" && pwd)
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
require_stack "$1"
stack=$1
base=$(git rev-parse --verify "${3:-HEAD^1}^{commit}")

if ! slipway check "$stack" >"$out/check.log" 2>&1; then
    cat "$out/check.log" >&2
    {
        printf '<!-- slipway-report:%s -->\n## Stack %s\n\n**Its settings are refused.** Nothing else was looked at.\n' \
            "$stack" "$stack"
        fenced "$out/check.log"
    } >"$out/comment.md"
    exit 2
fi
cat "$out/check.log"

checkout_before "$base"
against=()
if [ -f "$before/stacks/Pulumi.$stack.yaml" ]; then
    against=(--against "$base")
fi

slipway render "$stack" --out build/ci/rendered/after
rm -rf build/ci/rendered/before
mkdir -p build/ci/rendered/before
if [ ${#against[@]} -gt 0 ] && ! slipway_before render "$stack" --out "$root/build/ci/rendered/before"; then
    echo "note: the tree before the change does not render; every file of the stack counts as new" >&2
fi
(cd build/ci/rendered && git diff --no-index --no-color before after) >"$out/render.diff" || [ $? = 1 ]

slipway cost "$stack" "${against[@]}" | tee "$out/cost.txt"
slipway report "$stack" --out build/ci/page "${against[@]}"
cp build/ci/page/index.html "$out/index.html"
cp build/ci/page/report.md "$out/comment.md"
