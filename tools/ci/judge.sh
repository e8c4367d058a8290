#!/usr/bin/env bash
# judge.sh COMMIT OUT: judges the stack files of a commit by this checkout's code, none of the commit's. OUT/judged.md gets
# the result of each that differs. A link is not followed: git shows the path in it.
set -euo pipefail
commit=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

largest=262144
while IFS= read -r -d '' file; do
    stack=${file#stacks/Pulumi.}
    stack=${stack%.yaml}
    case $file in stacks/Pulumi.*.yaml) ;; *) continue ;; esac
    require_stack "$stack"
    [ "$(git cat-file -s "$commit:$file")" -le "$largest" ] || { echo "error: $file is too large" >&2; exit 2; }
    [ ! -L "$file" ] || rm "$file"
    git cat-file blob "$commit:$file" >"$file"
    code=0
    slipway policies "$stack" --wide >"$out/$stack.log" 2>&1 || code=$?
    {
        printf '\n### Stack %s, by the code of the default branch\n\n' "$stack"
        if [ "$code" = 0 ]; then
            printf 'No mandatory finding.\n'
        else
            printf '**Refused**, or code of this pull request is needed to read it:\n'
            fenced "$out/$stack.log"
        fi
    } >>"$out/judged.md"
done < <(git diff --name-only --no-renames --diff-filter=d -z HEAD "$commit" -- stacks)
