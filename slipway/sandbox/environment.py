"""The variables with which the Pulumi CLI, kubectl and AWS tools work on the sandbox and on nothing else."""

from __future__ import annotations

import os
from pathlib import Path

from slipway import toolchain
from slipway.sandbox.state import SandboxState

PASSPHRASE = "slipway-sandbox"  # noqa: S105 - guards nothing but throw-away state, and a prompt would stop every run
ACCESS_KEY = "testing"
TOOLS = ("pulumi", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "etcd", "helm")


def environment(state: SandboxState) -> dict[str, str]:
    """The variables to set. PATH has the sandbox's own directory and those of its tools before the present ones.

    Checkpoints stay on, for recovery, although 23 of the 27 s of CPU go into them that the engine takes for the 450
    resources of stack dev: a user may do without (PULUMI_SKIP_CHECKPOINTS is passed on). Their backups cost nothing
    beside them: 29 s with PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS (2 busy cores, 2026-11).
    """
    providers = {"aws": state.aws_provider_port, "kubernetes": state.kubernetes_provider_port}
    variables = {
        "PULUMI_BACKEND_URL": f"file://{state.backend}",
        "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
        "PULUMI_DEBUG_PROVIDERS": ",".join(f"{name}:{port}" for name, port in providers.items()),
        # Apart from the user's own.
        "PULUMI_HOME": str(state.engine_home),
        # Both providers are attached, so nothing may be looked for on the network.
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        # Of Go: the engine collects its garbage at every few resources, since it holds little. With a quarter as many
        # collections it takes 0.1 GB more, and 12 % less CPU for a preview of stack prod, 20 % with a pack (2026-11).
        "GOGC": os.environ.get("GOGC", "400"),
        # The Automation API would start the CLI once more for its version.
        "PULUMI_AUTOMATION_API_SKIP_VERSION_CHECK": "true",
        "AWS_ENDPOINT_URL": state.aws_endpoint,
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": ACCESS_KEY,
        "AWS_EC2_METADATA_DISABLED": "true",
        "KUBECONFIG": str(state.kubeconfig),
        "PATH": _path(state),
    }
    if region := os.environ.get("AWS_REGION"):
        variables["AWS_REGION"] = region
    return variables


def _path(state: SandboxState) -> str:
    found = [path.parent for tool in TOOLS if (path := _find(tool)) is not None]
    present = [Path(entry) for entry in os.get_exec_path() if entry]
    return os.pathsep.join(dict.fromkeys(str(entry) for entry in (state.home / "bin", *found, *present)))


def _find(tool: str) -> Path | None:
    try:
        return toolchain.find(tool)
    except toolchain.ToolError:
        return None
