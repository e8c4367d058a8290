#!/usr/bin/env bash
# rehearse.sh STACK OUT [BASE]: brings up the stack of the base commit in a separate sandbox, then previews the change
# with the policy pack, like a deployment. OUT/preview.log has the preview, and OUT/comment.md the result.
# Exit code: that of the preview; 11 if only the gate refused it; 1 if only the policy pack does, with values that the
# preview does not know.
set -euo pipefail
folder=${2:?usage: rehearse.sh STACK OUT [BASE]}
mkdir -p "$folder"
out=$(cd "$folder" && pwd)
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
require_stack "$1"
stack=$1
base=$(git rev-parse --verify "${3:-HEAD^1}^{commit}")

# Not the user's sandbox: this one is stopped at the end.
export SLIPWAY_SANDBOX_HOME=$root/build/ci/sandbox
trap 'slipway sandbox stop >/dev/null' EXIT
# Charts are installed only where a folder of them is named.
export SLIPWAY_CHARTS=${SLIPWAY_CHARTS:-none}
# Its state is discarded, so the engine need not write it at every step, which takes half of its time.
export PULUMI_SKIP_CHECKPOINTS=true

checkout_before "$base"
slipway sandbox start
against='on an empty sandbox, because the stack is new'
if [ -f "$before/stacks/Pulumi.$stack.yaml" ]; then
    if slipway_before up "$stack" --sandbox >"$out/before.log" 2>&1; then
        against="on the stack of ${base:0:10}"
    else
        tail -n 20 "$out/before.log" >&2
        against='on an empty sandbox, because the stack before the change does not come up'
        slipway sandbox stop
        slipway sandbox start
    fi
fi

code=0
slipway preview "$stack" --sandbox -- --policy-pack policies --diff >"$out/preview.log" 2>&1 || code=$?
cat "$out/preview.log"

# With values that the preview does not know, as deploy.sh does before it makes anything.
known=0
slipway policies "$stack" >"$out/known.log" 2>&1 || known=$?
cat "$out/known.log"

# The exit code has one reason, but there may be two: both are found in the output.
refusal='would be replaced or deleted; nothing was changed:$'
violation='\[mandatory\]'
{
    printf '\n### Rehearsal\n\nPreviewed %s, with the policy pack:\n' "$against"
    if [ "$code" = 0 ] && [ "$known" = 0 ]; then
        printf '\n- it passes.\n'
    fi
    if grep -q "$refusal" "$out/preview.log"; then
        printf '\n- **The gate refuses it.**\n'
        sed -n "/$refusal/,\$p" "$out/preview.log" >"$out/gate.log"
        fenced "$out/gate.log"
    fi
    if grep -q "$violation" "$out/preview.log"; then
        printf '\n- **The policy pack refuses it.**\n'
        grep -A 1 "$violation" "$out/preview.log" >"$out/policies.log"
        fenced "$out/policies.log"
    fi
    if [ "$known" != 0 ] && ! grep -q "$violation" "$out/preview.log"; then
        printf '\n- **The policy pack refuses it** once AWS has made the resources that it refers to.\n'
        grep -A 1 '^mandatory ' "$out/known.log" >"$out/policies.log" || tail -n 20 "$out/known.log" >"$out/policies.log"
        fenced "$out/policies.log"
    fi
    if [ "$code" != 0 ] && ! grep -q -e "$refusal" -e "$violation" "$out/preview.log"; then
        printf '\n- **It fails** with exit code %s.\n' "$code"
        fenced "$out/preview.log"
    fi
} >>"$out/comment.md"
[ "$code" != 0 ] || code=$known
exit "$code"
