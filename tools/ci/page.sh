#!/usr/bin/env bash
# page.sh STACK OUT [BASE]: reports what a change does to a stack, without an engine and without credentials. OUT gets
# the page (index.html), the comment (comment.md) and the cost (cost.txt). Both show what scenarios.sh has put there.
# Exit code 2: the settings are refused, and the comment has the reasons.
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
        printf '<!-- slipway-report:%s -->\n## Stack %s\n\n**Its settings are refused.** Nothing else was checked.\n' \
            "$stack" "$stack"
        fenced "$out/check.log"
    } >"$out/comment.md"
    exit 2
fi
cat "$out/check.log"

against=()
if git cat-file -e "$base:stacks/Pulumi.$stack.yaml" 2>/dev/null; then
    against=(--against "${base:0:12}")
fi
slipway cost "$stack" "${against[@]}" | tee "$out/cost.txt"
# Renders both trees, each with its own program, and compares them.
replayed=()
[ ! -f "$out/scenarios/rehearsal.json" ] || replayed+=(--rehearsal "$out/scenarios/rehearsal.json")
[ ! -f "$out/advice.json" ] || replayed+=(--advice "$out/advice.json")
slipway report "$stack" --out "$out" "${against[@]}" "${replayed[@]}"
mv "$out/report.md" "$out/comment.md"

# With the suppressions and levels of the base: a change does not excuse itself. It fails nothing here, since an accepted
# violation needs its suppression; the owners of policies/ decide (.github/CODEOWNERS).
if [ "${#against[@]}" -gt 0 ] && git cat-file -e "$base:policies/levels/prod.json" 2>/dev/null; then
    code=0
    slipway policies "$stack" "${against[@]}" --wide >"$out/policies.txt" 2>&1 || code=$?
    [ "$code" -le 1 ] || { cat "$out/policies.txt" >&2; exit "$code"; }
    if grep -q -e '^review: ' -e '^mandatory ' "$out/policies.txt"; then
        {
            printf '\n### Needs an owner of the policies\n\nJudged with the suppressions and levels before the change:\n'
            grep -A 1 -e '^review: ' -e '^mandatory ' "$out/policies.txt" >"$out/review.txt"
            fenced "$out/review.txt"
        } >>"$out/comment.md"
    fi
fi
