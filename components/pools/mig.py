"""Partitions the GPUs of a node with MIG before its kubelet starts (docs/adr/0062-mig-before-the-kubelet.md).

User data installs `mig.sh` as a command that nodeadm's service runs first, at every boot: the mode of a Hopper GPU and
the instances of any GPU are gone after a reboot (NVIDIA MIG User Guide, "Getting Started with MIG"). If the command
fails, the service fails, and only that service starts the kubelet (awslabs/amazon-eks-ami 2026-07-23,
nodeadm/internal/kubelet/daemon.go; templates/al2023/runtime, nodeadm-run.service): a node with other GPUs than its
labels say doesn't join. Scripts of cloud-init run before that service (`After=cloud-final.service`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from spec.catalog import mig
from spec.pools.pool_spec import PoolSpec

COMMAND: Final = "/usr/local/sbin/slipway-mig"
_SCRIPT: Final = (Path(__file__).parent / "mig.sh").read_text(encoding="utf-8")
_SETUP: Final = """\
#!/usr/bin/env bash
set -euo pipefail
trap 'systemctl mask --runtime nodeadm-run.service' ERR
root=${{SLIPWAY_ROOT:-}}
install -d "$root/usr/local/sbin" "$root/etc/systemd/system/nodeadm-run.service.d"
cat >"$root{command}" <<'END_OF_SCRIPT'
{script}END_OF_SCRIPT
chmod 755 "$root{command}"
cat >"$root/etc/systemd/system/nodeadm-run.service.d/10-slipway-mig.conf" <<'END_OF_UNIT'
[Unit]
After=nvidia-kmod-load.service nvidia-persistenced.service nvidia-fabricmanager.service set-nvidia-clocks.service
[Service]
ExecStartPre={command} {gpus} {layout}
END_OF_UNIT
systemctl daemon-reload
"""


def setup_script(spec: PoolSpec) -> str:
    """A script for user data; empty if the pool has no MIG settings. Fresh instances have MIG disabled.

    The settings checks refuse MIG on Bottlerocket.
    """
    if spec.gpu is None or spec.mig is None:
        return ""
    return _SETUP.format(command=COMMAND, script=_SCRIPT, gpus=spec.gpu_count, layout=layout(spec))


def layout(spec: PoolSpec) -> str:
    """Instances of one GPU as `mig.sh` takes them: `3g.20gb:4,1g.5gb:0`, or `none`."""
    if spec.gpu is None or spec.mig is None or not spec.mig.profiles:
        return "none"
    return ",".join(f"{profile}:{start}" for profile, start in mig.placements(spec.gpu.name, spec.mig.profiles))
