"""The environment of processes in the sandbox: variables, the engine's folder, and where compiled modules go."""

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sandbox import toolchain
from sandbox.state import SandboxState
from sandbox.toolchain import cache

PASSPHRASE = "slipway-sandbox"  # noqa: S105 - guards nothing but throw-away state, and a prompt would stop every run
ACCESS_KEY = "testing"
PYTHON = "SLIPWAY_PYTHON"
"""The interpreter of the language host: that of the command which runs, with the packages of its checkout."""
CLIENT_TIMEOUT = "PULUMI_K8S_CLIENT_TIMEOUT"
CLIENT_SECONDS = "300"
TOOLS = ("pulumi", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "etcd", "helm")


def environment(state: SandboxState) -> dict[str, str]:
    """The variables to set. PATH starts with the sandbox's own directory and those of its tools.

    Checkpoints stay on, for recovery, although they take 23 of the engine's 27 s of CPU for the 450 resources of stack
    dev. A user may turn them off (PULUMI_SKIP_CHECKPOINTS is passed on). Their backups cost nothing in comparison: 29 s
    with PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS (2 busy cores, 2026-11).
    """
    providers = {"aws": state.aws_provider_port}
    if state.official is None:
        providers["kubernetes"] = state.kubernetes_provider_port
    variables = {
        # Without files of attributes beside those of the state. The backend truncates one before it writes it (gocloud
        # fileblob, attrs.go `setAttrs`, 2026-11): an engine killed there would leave a state that no command loads
        # ("failed to load checkpoint: EOF"). The state itself is written under another name and renamed.
        "PULUMI_BACKEND_URL": f"file://{state.backend}?metadata=skip",
        "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
        "PULUMI_DEBUG_PROVIDERS": ",".join(f"{name}:{port}" for name, port in providers.items()),
        # Separate from the user's own.
        "PULUMI_HOME": str(state.engine_home),
        # The providers are attached, or in PULUMI_HOME: no plugin may be downloaded.
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        # Go's garbage collector: with its default the engine collects after every few resources, because its heap is
        # small. With 400 it takes 0.1 GB more, and 12 % less CPU for a preview of stack prod, 20 % less with a policy
        # pack (2026-11).
        "GOGC": os.environ.get("GOGC", "400"),
        # Otherwise the Automation API starts the CLI once more to ask for its version.
        "PULUMI_AUTOMATION_API_SKIP_VERSION_CHECK": "true",
        PYTHON: sys.executable,
        "AWS_ENDPOINT_URL": state.aws_endpoint,
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": ACCESS_KEY,
        "AWS_EC2_METADATA_DISABLED": "true",
        "KUBECONFIG": str(state.kubeconfig),
        "PATH": _path(state),
    }
    if state.official is not None:
        # The provider's own limit is 32 s for a request. An API server merges the schemas of all CRDs anew when Helm
        # reads them after a CRD came. For stack prod with all charts that takes longer on two processors that others
        # use too ("openapi/v2?timeout=32s: context deadline exceeded", at load 10, 2026-11).
        variables[CLIENT_TIMEOUT] = os.environ.get(CLIENT_TIMEOUT, CLIENT_SECONDS)
    if region := os.environ.get("AWS_REGION"):
        variables["AWS_REGION"] = region
    return variables


def _path(state: SandboxState) -> str:
    tools = [path.parent for tool in TOOLS if (path := _find(tool)) is not None]
    present = [Path(entry) for entry in os.get_exec_path() if entry]
    return os.pathsep.join(dict.fromkeys(str(entry) for entry in (state.home / "bin", *tools, *present)))


def _find(tool: str) -> Path | None:
    try:
        return toolchain.find(tool)
    except toolchain.ToolError:
        return None


# The engine's directory in a sandbox, PULUMI_HOME, without the log that each run of the CLI writes there.
#
# The CLI writes everything that `-v=9` would show into `$PULUMI_HOME/logs`, compressed and encrypted, and has no
# setting to turn it off (v3.258.0, pkg/logging/encrypted.go, StartLogging): 1.3 of 8.2 s of CPU for a preview of stack
# prod, and 1.4 MB a run (2 cores, 2026-11). If it can't create that directory it continues without, so a file of that
# name is created first. `--logtostderr -v=9` shows the same on demand.

LOGS: Final = "logs"
WHY: Final = """\
This file keeps the Pulumi CLI from writing a log of every run here, which takes a sixth of the time of a preview.
Remove it to get the logs (`pulumi logs decrypt`), or add `--logtostderr -v=9` to one run.
"""


def prepare_engine_home(home: Path) -> None:
    """Create the directory, without logs. An existing log directory stays: the user turned the logs on."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    logs = home / LOGS
    if not logs.exists():
        logs.write_text(WHY, encoding="utf-8")


# Where compiled modules go if PYTHONDONTWRITEBYTECODE is set.
#
# With that variable, which many container images set, each process compiles all its imports again: `pulumi_aws` takes 5
# of the 11 s of the program of stack dev, moto 2 of the 4 s of the daemon's start (2 cores, 2026-11). The variable
# keeps `__pycache__` out of a checkout or an environment, so compiled modules go into Slipway's cache instead.

UNWANTED = "PYTHONDONTWRITEBYTECODE"
PREFIX = "PYTHONPYCACHEPREFIX"


def bytecode_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables for a child process; empty if Python may write bytecode or the user chose a directory."""
    if not environment.get(UNWANTED) or environment.get(PREFIX):
        return {}
    # Python treats an empty value as unset.
    return {UNWANTED: "", PREFIX: str(cache.root() / "bytecode")}


def bytecode_lines() -> str:
    """The same for a shell script, whose environment is known only when it runs."""
    place = shlex.quote(str(cache.root() / "bytecode"))
    return f'if [ -n "${UNWANTED}" ] && [ -z "${PREFIX}" ]; then\n  export {UNWANTED}= {PREFIX}={place}\nfi\n'
