#!/usr/bin/env bash
# scenarios.sh STACK OUT: plays the scenarios that the clock drives, and searches for changes that cost less, by replays:
# no sandbox and no credentials. OUT gets scenarios/index.html (the timeline), scenarios/rehearsal.json and advice.json;
# page.sh shows them. The jobs of the advice are those of stacks/trace.STACK.csv, else generated ones (ADR 0133).
# Exit code 1: a scenario is not as expected. Settings that are refused are page.sh's to report.
set -euo pipefail
folder=${2:?usage: scenarios.sh STACK OUT}
mkdir -p "$folder"
out=$(cd "$folder" && pwd)
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
require_stack "$1"
stack=$1
rm -rf "$out/scenarios" "$out/advice.json"
slipway check "$stack" >/dev/null 2>&1 || exit 0

code=0
slipway rehearse "$stack" --replayed --out "$out/scenarios" || code=$?

jobs=(--generate --load 1 --seed 1 --jobs 1000)
[ ! -f "stacks/trace.$stack.csv" ] || jobs=(--trace "stacks/trace.$stack.csv")
# A stack on which no job of the trace can run has no advice.
slipway replay "$stack" "${jobs[@]}" --advise --max-minutes 2 --json >"$out/advice.json" || rm "$out/advice.json"
exit "$code"
