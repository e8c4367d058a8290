#!/usr/bin/env bash
# stacks.sh [BASE]: prints the stacks that a change affects, as a JSON list. A stack file affects its stack, the program
# and the pipeline affect all stacks, documentation and tests none. BASE is the first parent: the checkout is GitHub's
# merge commit.
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
    spec/* | infra/* | components/* | policies/* | slipway/* | Pulumi.yaml | pyproject.toml | requirements.lock) all=yes ;;
    # What decides whether a change may be deployed, and what deploys it.
    tools/* | .github/* | .ci/* | Makefile | stacks/*) all=yes ;;
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
