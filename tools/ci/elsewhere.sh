#!/usr/bin/env bash
# elsewhere.sh STACK FILE OUT [fail|report]: check a stack file of another repository, and write its report to OUT.
# With `report`, mandatory findings of the policies are written and don't fail. Needs no credentials.
set -euo pipefail
stack=$1 file=$2 out=$3 findings=${4:-fail}
root=$(cd "$(dirname "$0")/../.." && pwd)
# In a shell of its own: it changes to the checkout, and the paths of the arguments are relative to here.
bash -c 'source "$1" && require_stack "$2"' _ "$root/tools/ci/lib.sh" "$stack"
case $findings in fail | report) ;; *)
  echo "elsewhere.sh: the last argument is fail or report, not $findings" >&2
  exit 2
  ;;
esac
if [ ! -f "$file" ] || [ -L "$file" ]; then
  echo "elsewhere.sh: $file is not a file: name the stack file, no link" >&2
  exit 2
fi
make --no-print-directory -C "$root" setup
slipway=$root/.venv/bin/slipway
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/stacks"
cp "$root/Pulumi.yaml" "$work/"
cp "$file" "$work/stacks/Pulumi.$stack.yaml"
cd "$work"
"$slipway" check "$stack"
"$slipway" cost "$stack" --json >"$out/cost.json"
"$slipway" report "$stack" --out "$out"
code=0
"$slipway" policies "$stack" --json >"$out/policies.json" || code=$?
if [ "$code" != 0 ]; then
  echo "stack $stack has mandatory findings: $out/policies.json" >&2
  if [ "$findings" = fail ] || [ "$code" != 1 ]; then exit "$code"; fi
fi
