#!/usr/bin/env bash
# stacks.sh [BASE]: prints the stacks that a change affects, as a JSON list. A stack file affects its stack, and
# documentation and tests affect none. Everything else affects all, whatever its name: Python takes a module from the
# root before the library of that name, and git, uv and pip read settings there. BASE is the first parent: the checkout
# is GitHub's merge commit.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# An unknown base would look like an empty change.
base=$(git rev-parse --verify "${1:-HEAD^1}^{commit}")
declare -A touched=()
all=no
while IFS= read -r -d '' file; do
    case $file in
    stacks/Pulumi.*.yaml)
        stack=${file#stacks/Pulumi.}
        touched[${stack%.yaml}]=yes
        ;;
    docs/* | examples/* | tests/* | README.md | CHANGELOG.md | CONTRIBUTING.md | SECURITY.md | LICENSE) ;;
    *) all=yes ;;
    esac
done < <(git diff --name-only --no-renames -z "$base" HEAD)

affected=()
for file in stacks/Pulumi.*.yaml; do
    stack=${file#stacks/Pulumi.}
    stack=${stack%.yaml}
    if [ "$all" = yes ] || [ -n "${touched[$stack]-}" ]; then
        require_stack "$stack"
        affected+=("\"$stack\"")
    fi
done
(
    IFS=,
    echo "[${affected[*]-}]"
)
