"""Running `helm`, with a home of its own: the user's repositories, plugins and cached discovery have no influence."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import yaml

from sandbox import environment, toolchain
from sandbox.cluster.patience import Patience, Work
from sandbox.cluster.pki import kubeconfig
from sandbox.errors import BUSY, SandboxError, cancelled
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.controllers.webhooks import NOBODY
from sandbox.kubernetes.helm import manifest
from sandbox.ports import ClusterEndpoint

LOOK_SECONDS: Final = 2.0
"""Between two looks at what a running command waits for, as often as Helm itself looks (helm v3, pkg/kube/wait.go)."""
TEMPLATE_SECONDS: Final = 120
"""How long `helm template` may do nothing."""
ROLLBACK_SECONDS: Final = 300
"""How long Helm may do nothing once it is interrupted, while it rolls a release back."""
_LIMITS: Final = {"HELM_QPS": "500", "HELM_BURST_LIMIT": "1000"}
"""Requests a second; client-go's own limit of 5 makes each release a second longer (2026-11)."""
_FOREIGN: Final = ("HELM_", "KUBE", "AWS_")
"""Beginnings of variables of the user that are for other clusters and repositories."""


class Stop(StrEnum):
    """Why the sandbox interrupted Helm."""

    HOPELESS = "hopeless"
    """It waited without a hope."""
    CANCELLED = "cancelled"
    """The engine cancelled the operation, as after Ctrl-C."""


class HelmError(SandboxError):
    """Helm ended with an error; the text is Helm's own. `stopped` says why the sandbox interrupted it, if it did."""

    def __init__(self, text: str, *, stopped: Stop | None = None) -> None:
        super().__init__(text)
        self.stopped = stopped
        self.busy = stopped is None and BUSY.search(text) is not None


@dataclass(frozen=True)
class Done:
    """What a command wrote, and what its post-renderer left out."""

    output: str
    left_out: tuple[str, ...] = ()


def available() -> Path | None:
    """The helm binary; None if this machine has none."""
    try:
        return toolchain.find("helm")
    except toolchain.ToolError:
        return None


def template(helm: Path, arguments: Sequence[str], values: Mapping[str, Any]) -> str:
    """What `helm template` renders without a cluster. Raises HelmError."""
    with tempfile.TemporaryDirectory(prefix="slipway-helm-") as name:
        home = Path(name)
        argv = [str(helm), "template", *arguments, "--values", str(_values(home, values))]
        with (home / "output").open("w+") as output, (home / "errors").open("w+") as errors:
            process = subprocess.Popen(argv, stdout=output, stderr=errors, env=_environment(home))
            patience, work = Patience(TEMPLATE_SECONDS), Work(process.pid)
            _wait(process, lambda: not patience.look(work()))
            output.seek(0)
            errors.seek(0)
            if process.returncode:
                raise HelmError(_reason(errors.read()))
            return output.read()


def run(
    helm: Path,
    client: KubeClient,
    arguments: Sequence[str],
    *,
    values: Mapping[str, Any] | None = None,
    served: Mapping[str, bool] = NOBODY,
    hopeless: Callable[[], bool] = lambda: False,
) -> Done:
    """Run a command against a cluster. Raises HelmError.

    Args:
        helm: The binary.
        client: The cluster's client.
        arguments: The command and its arguments.
        values: Values of an installation, whose rendering goes through the post-renderer; None for other commands.
        served: The controllers that run for the chart (`controllers.served`).
        hopeless: Is called every two seconds while the command runs; if it returns True, Helm is interrupted, as it is
            once the engine cancels the operation.
    """
    with tempfile.TemporaryDirectory(prefix="slipway-helm-") as name:
        home = Path(name)
        report = home / "left-out.json"
        argv = [str(helm), *arguments]
        if values is not None:
            argv += ["--values", str(_values(home, values)), *_post_renderer(report, served)]
        _write(home / "kubeconfig", _kubeconfig(client))
        with (home / "output").open("w+") as output, (home / "errors").open("w+") as errors:
            process = subprocess.Popen(argv, stdout=output, stderr=errors, env=_environment(home))
            stopped = _wait(process, hopeless)
            output.seek(0)
            errors.seek(0)
            if process.returncode:
                raise HelmError(_reason(errors.read()), stopped=stopped)
            left_out = json.loads(report.read_text(encoding="utf-8")) if report.is_file() else ()
            return Done(output.read(), tuple(left_out))


def _wait(process: subprocess.Popen[bytes], hopeless: Callable[[], bool]) -> Stop | None:
    """Wait until the command ends; returns why it was interrupted."""
    stopped = None
    while True:
        try:
            process.wait(LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            if stopped is None:
                stopped = Stop.CANCELLED if cancelled() else Stop.HOPELESS if hopeless() else None
                if stopped is not None:
                    # As Ctrl-C: Helm marks the release as failed, and rolls it back if it is atomic.
                    process.send_signal(signal.SIGINT)
                    patience, work = Patience(ROLLBACK_SECONDS), Work(process.pid)
            elif not patience.look(work()):
                process.kill()
        else:
            return stopped


def _post_renderer(report: Path, served: Mapping[str, bool]) -> list[str]:
    arguments = ["-m", manifest.MODULE, str(report), json.dumps(dict(served))]
    return ["--post-renderer", sys.executable, *(each for one in arguments for each in ("--post-renderer-args", one))]


def _environment(home: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(_FOREIGN)}
    ours = {
        "HELM_CACHE_HOME": str(home / "cache"),
        "HELM_CONFIG_HOME": str(home / "config"),
        "HELM_DATA_HOME": str(home / "data"),
        "KUBECACHEDIR": str(home / "discovery"),
        "KUBECONFIG": str(home / "kubeconfig"),
    }
    return {**kept, **environment.bytecode_variables(kept), **_LIMITS, **ours}


def _kubeconfig(client: KubeClient) -> str:
    endpoint = ClusterEndpoint(client.server, client.certificate_authority)
    return yaml.safe_dump(kubeconfig({"sandbox": endpoint}, client.token))


def _values(home: Path, values: Mapping[str, Any]) -> Path:
    # JSON is YAML, and keeps numbers and texts apart as they are.
    return _write(home / "values.yaml", json.dumps(values))


def _write(path: Path, text: str) -> Path:
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    return path


def _reason(text: str) -> str:
    """Helm's error without its warnings and its log."""
    _, found, rest = text.rpartition("Error: ")
    return (rest if found else text).strip()
