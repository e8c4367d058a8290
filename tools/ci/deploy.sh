#!/usr/bin/env bash
# deploy.sh plan|up STACK: previews or updates a stack on AWS, with the policy pack and the gate.
# ALLOW_REPLACE has the URNs, separated by white space, of resources with state that may be replaced or deleted.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
require_stack "${2-}"

allowed=()
for urn in ${ALLOW_REPLACE-}; do
    allowed+=(--allow-replace "$urn")
done
use_engine

# The engine sees values such as ARNs of new resources only during the update, and stack rules only after it. Here they
# are judged before anything is made.
case $1 in
plan | up) slipway policies "$2" ;;
esac

case $1 in
plan) slipway preview "$2" "${allowed[@]}" -- --policy-pack policies --diff --non-interactive ;;
up) slipway up "$2" --yes "${allowed[@]}" -- --policy-pack policies --non-interactive ;;
*)
    echo "error: deploy.sh plan|up STACK; got '$1'" >&2
    exit 2
    ;;
esac
