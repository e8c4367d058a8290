#!/usr/bin/env bash
# Partitions the GPUs of a node with Multi-Instance GPU, before the kubelet starts.
# usage: slipway-mig GPUS LAYOUT
# GPUS is the number of GPUs of the node. LAYOUT is the instances of each GPU as profile tuples of `nvidia-smi mig -cgi`,
# `3g.20gb:4,1g.5gb:0`, or `none` for whole GPUs.
# Exit status 0: the GPUs are partitioned so. Otherwise the node reboots, or powers off; either way it must not join.
set -euo pipefail
readonly gpus=$1 layout=$2
readonly state=${SLIPWAY_MIG_STATE:-/var/lib/slipway-mig} seconds=${SLIPWAY_MIG_SECONDS:-2}

log() { echo "slipway-mig: $*" >&2; }

fail() {
  log "$*: the node does not join the cluster, and powers off"
  systemctl --no-block poweroff
  exit 1
}

# The number of GPUs that the driver knows. Without a driver, nvidia-smi writes an error to its standard output.
present() { nvidia-smi --query-gpu=index --format=csv,noheader 2>/dev/null | grep -cE '^[0-9]+$' || true; }

# `current` or `pending`: the distinct MIG modes of all GPUs.
mode() { nvidia-smi "--query-gpu=mig.mode.$1" --format=csv,noheader | sort -u; }

# Lines `GPU PROFILE` of the instances that exist, and of those that should.
found() { nvidia-smi -L | awk '/^GPU / { gpu = $2; sub(":", "", gpu) } $1 == "MIG" { print gpu, $2 }' | sort; }

wanted() {
  [[ $layout != none ]] || return 0
  local gpu tuple
  for ((gpu = 0; gpu < gpus; gpu++)); do
    for tuple in ${layout//,/ }; do echo "$gpu ${tuple%:*}"; done
  done | sort
}

wait_for_driver() {
  for _ in {1..90}; do
    [[ $(present) != "$gpus" ]] || return 0
    sleep "$seconds"
  done
  fail "the driver knows $(present) GPUs after $((90 * seconds)) s, not $gpus"
}

# An A100 takes the new mode at a reset, and EC2 may not allow one: then at a reboot.
set_mode() {
  local switch=$1 expected=$2
  [[ $(mode current) != "$expected" ]] || return 0
  nvidia-smi -mig "$switch" >&2 || log "nvidia-smi -mig $switch failed"
  [[ $(mode current) != "$expected" ]] || return 0
  nvidia-smi --gpu-reset >&2 || log "the GPUs can't be reset"
  [[ $(mode current) != "$expected" ]] || return 0
  [[ $(mode pending) == "$expected" ]] || fail "MIG mode is $(mode current) and can't become $expected"
  [[ ! -e $state/rebooted ]] || fail "MIG mode is not $expected after a reboot"
  mkdir -p "$state"
  touch "$state/rebooted"
  log "MIG mode becomes $expected at the next boot: the node reboots"
  systemctl --no-block reboot
  exit 1
}

# Both fail if there is nothing to destroy.
destroy() {
  nvidia-smi mig -dci >&2 || true
  nvidia-smi mig -dgi >&2 || true
}

create() { nvidia-smi mig -cgi "$1" -C >&2; }

wait_for_driver
if [[ $layout == none ]]; then
  [[ -z $(found) ]] || destroy
  set_mode 0 Disabled
else
  set_mode 1 Enabled
  if [[ $(found) != "$(wanted)" ]]; then
    destroy
    # The driver may know a better place than the one that was computed.
    create "$layout" || { destroy && create "$(sed -E 's/:[0-9]+//g' <<<"$layout")"; } || fail "no instances for $layout"
  fi
fi
[[ $(found) == "$(wanted)" ]] || fail "the instances are not $layout on each of $gpus GPUs: $(found | paste -sd ';')"
rm -f "$state/rebooted"
# Container runtimes see the instances by their new specification. Without waiting: the service may be ordered later.
if systemctl list-unit-files --quiet nvidia-cdi-refresh.service >/dev/null; then
  systemctl --no-block restart nvidia-cdi-refresh.service || log "nvidia-cdi-refresh did not restart"
fi
log "$gpus GPUs are partitioned: $layout"
