#!/usr/bin/env bash
# stacks.sh [BASE]: the stacks that a change touches, as a JSON list. A stack file touches its stack, what every stack is
# made of touches all, documentation and tests touch none. BASE is the first parent: the checkout is GitHub's merge.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# A base that is not here would look like a change of nothing.
base=$(git rev-parse --verify "${1:-HEAD^1}^{commit}")
declare -A touched=()
all=no
while IFS= read -r -d '' file; do
    case $file in
    stacks/Pulumi.*.yaml)
        stack=${file#stacks/Pulumi.}
        touched[${stack%.yaml}]=yes
        ;;
    spec/* | infra/* | components/* | policies/* | slipway/* | Pulumi.yaml | pyproject.toml | requirements.lock) all=yes ;;
    esac
done < <(git diff --name-only --no-renames -z "$base" HEAD)

found=()
for file in stacks/Pulumi.*.yaml; do
    stack=${file#stacks/Pulumi.}
    stack=${stack%.yaml}
    if [ "$all" = yes ] || [ -n "${touched[$stack]-}" ]; then
        require_stack "$stack"
        found+=("\"$stack\"")
    fi
done
(
    IFS=,
    echo "[${found[*]-}]"
)
