"""User data of nodes, in addition to what EKS or Karpenter adds. EKS appends its own part (cluster, endpoint, labels,
taints) to this one and merges the two.

It partitions GPUs with MIG before the kubelet starts (docs/adr/0062-mig-before-the-kubelet.md): user data installs
`mig.sh` as a command that nodeadm's service runs first, at every boot: the mode of a Hopper GPU and the instances of
any GPU are gone after a reboot (NVIDIA MIG User Guide, "Getting Started with MIG"). If the command fails, the service
fails, and only that service starts the kubelet (awslabs/amazon-eks-ami 2026-07-23, nodeadm/internal/kubelet/daemon.go;
templates/al2023/runtime, nodeadm-run.service): a node with other GPUs than its labels say doesn't join. Scripts of
cloud-init run before that service (`After=cloud-final.service`).
"""

import base64
from email.generator import Generator
from email.message import Message
from io import StringIO
from pathlib import Path
from typing import Any, Final

import yaml

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


BOUNDARY: Final = "==slipway=="
"""Fixed, because a random one would create a new launch template version, and so new nodes, at every run."""


def user_data(spec: PoolSpec) -> str:
    """User data of a pool's launch template, in base64."""
    text = _bottlerocket(spec) if spec.settings.os == "bottlerocket" else _multipart(spec, _node_config(spec))
    return base64.b64encode(text.encode()).decode()


def _node_config(spec: PoolSpec) -> dict[str, Any]:
    """NodeConfig for nodeadm (awslabs.github.io/amazon-eks-ami/nodeadm, API reference).

    The number of pods is a kubelet flag and not `config.maxPods`: when nodeadm merges configurations, the last one
    wins, EKS's is last and sets `maxPods` (eksctl-io/eksctl#8037), while flags of both are kept and override the
    configuration (nodeadm/internal/api/merge.go, 2025).
    """
    config: dict[str, Any] = {"kubelet": {"flags": [f"--max-pods={spec.settings.max_pods}"]}}
    if spec.settings.local_nvme == "raid0":
        # Kubelet and containerd use the RAID array, so images and ephemeral storage have its size and speed.
        config["instance"] = {"localStorage": {"strategy": "RAID0"}}
    return _as_node_config({**config, **_parallel_pull(spec)})


def _as_node_config(config: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": config}


def _parallel_pull(spec: PoolSpec) -> dict[str, Any]:
    """SOCI's parallel pull mode on Amazon Linux: a feature gate of nodeadm, which calls it experimental and ignores it
    on small instances. With RAID0 the snapshotter's directory is on the array (awslabs/amazon-eks-ami, 2026-07:
    nodeadm/doc/examples.md, templates/al2023/runtime/bin/setup-local-disks)."""
    return {"featureGates": {"FastImagePull": True}} if spec.settings.parallel_image_pull else {}


def karpenter_user_data(spec: PoolSpec) -> str:
    """User data of a Karpenter pool, which Karpenter merges with its own (Karpenter v1.14 documentation, NodeClasses,
    `spec.userData`); empty if there is none."""
    if spec.settings.os == "bottlerocket":
        return bottlerocket_gpus(spec) + _bottlerocket_pull(spec)
    gates = _parallel_pull(spec)
    return _multipart(spec, _as_node_config(gates) if gates else None)


def _multipart(spec: PoolSpec, node_config: dict[str, Any] | None) -> str:
    """A MIME multi-part document, the format in which EKS and Karpenter merge user data of AL2023 (EKS User Guide,
    "Customize managed nodes with launch templates"); empty without parts."""
    parts = {
        "application/node.eks.aws": yaml.safe_dump(node_config) if node_config else "",
        "text/x-shellscript": setup_script(spec),
    }
    if not any(parts.values()):
        return ""
    document = Message()
    document["MIME-Version"] = "1.0"
    document.add_header("Content-Type", "multipart/mixed", boundary=BOUNDARY)
    for content_type, text in parts.items():
        if text:
            part = Message()
            part.add_header("Content-Type", content_type)
            part.set_payload(text)
            document.attach(part)
    written = StringIO()
    Generator(written, mangle_from_=False).flatten(document)
    return written.getvalue()


def bottlerocket_gpus(spec: PoolSpec) -> str:
    """Settings of Bottlerocket's device plugin in TOML; empty if GPUs aren't shared (bottlerocket.dev 1.54.x,
    "settings.kubelet-device-plugins", 2026). The settings checks refuse MIG, because the plugin offers only whole
    GPUs."""
    if spec.sharing is None:
        return ""
    key = "settings.kubelet-device-plugins.nvidia"
    lines = [
        f"[{key}]",
        f'device-sharing-strategy = "{spec.sharing.mode}"',
        f"[{key}.{spec.sharing.mode}]",
        f"replicas = {spec.sharing.replicas}",
        "rename-by-default = false",
    ]
    if spec.sharing.mode == "time-slicing":
        lines.append("fail-requests-greater-than-one = true")
    return "\n".join([*lines, ""])


def _bottlerocket(spec: PoolSpec) -> str:
    """Settings in TOML (bottlerocket.dev, "settings.kubernetes"). The settings checks refuse local disks, for which
    Bottlerocket has no setting."""
    pods = f"[settings.kubernetes]\nmax-pods = {spec.settings.max_pods}\n"
    return pods + bottlerocket_gpus(spec) + _bottlerocket_pull(spec)


def _bottlerocket_pull(spec: PoolSpec) -> str:
    """SOCI's parallel pull mode on Bottlerocket, from 1.44.0 (bottlerocket.dev 1.53.x,
    "settings.container-runtime-plugins", 2026); empty if it isn't enabled."""
    if not spec.settings.parallel_image_pull:
        return ""
    lines = [
        "[settings.container-runtime]",
        'snapshotter = "soci"',
        "[settings.container-runtime-plugins.soci-snapshotter]",
        'pull-mode = "parallel-pull-unpack"',
    ]
    return "\n".join([*lines, ""])
