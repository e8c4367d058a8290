"""A notebook server for one person: a session that ends by itself when nobody uses it, and a disk that stays.

The session is a Job: a server that has shut itself down gives its GPU back, where a Deployment or StatefulSet would
start it again at once. It queues like any job, and can be stopped for what is more urgent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import pulumi

from components.workloads.checks.bounds import bounds_problems, count_problems, suspended_problems
from components.workloads.checks.pods import pod_problems, spot_problems
from components.workloads.component import Workload, WorkloadManifest, WorkloadManifests
from components.workloads.metadata import NOT_MOVED, SKIP_AWAIT, metadata, pod_metadata
from components.workloads.pods import Pod, SecretKey, container, pod_spec
from components.workloads.refusal import name_problems, refuse_if_any
from components.workloads.target import Target
from components.workloads.volumes import Claim
from spec.quantities import is_amount
from spec.settings.problems import Problem

CONTAINER: Final = "notebook"
PORT: Final = 8888
HOME: Final = "/home/work"
HOUR: Final = 3600
LABEL: Final = "platform.slipway/notebook"
"""Label of the pods of all sessions of a notebook."""
NOT_RETRIED: Final = 0
"""A server that failed is started by a person, who looks why; one that was taken away (spot, preemption) is started
again, which counts as no retry."""


@dataclass(frozen=True, kw_only=True)
class NotebookArgs:
    """Inputs of a notebook.

    Attributes:
        target: Where it runs.
        pod: Image with JupyterLab, pools, resources; its command is given here.
        session: Name of the session. Another name starts another one, with the same disk.
        idle_seconds: Time without use after which a kernel, then the server ends.
        longest_seconds: Time after which a session ends in any case.
        home_size: Size of the disk, which stays when sessions end.
        token: Secret with the token that lets a browser in; one of Jupyter's own, shown in the log, where not given.
        priority: Priority class.
        suspend: Start suspended; the queue starts it.
    """

    target: Target
    pod: Pod
    session: str = "1"
    idle_seconds: int = HOUR
    longest_seconds: int | None = 12 * HOUR
    home_size: str = "50Gi"
    token: SecretKey | None = None
    priority: str = "interactive"
    suspend: bool = True


def notebook(name: str, args: NotebookArgs) -> WorkloadManifests:
    """The manifests of a notebook.

    Raises:
        WorkloadRefused: With everything that would fail later.
    """
    job = _session(name, args)
    refuse_if_any("Notebook", name, _problems(args, job["spec"]["template"]["spec"]))
    return {
        "home": WorkloadManifest(_home(name, args)),
        "address": WorkloadManifest(_address(name, args)),
        "session": WorkloadManifest(job, ("home",)),
    }


class Notebook(Workload):
    """A notebook as resources."""

    PULUMI_TYPE: Final = "slipway:workloads:Notebook"

    def __init__(self, name: str, args: NotebookArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, notebook(name, args), args.target, opts)


def command(idle_seconds: int) -> tuple[str, ...]:
    """JupyterLab that ends when it is idle: first kernels and terminals, then, with none left, the server (Jupyter
    Server 2, configuration reference). A kernel that computes is not idle, whether a browser looks on or not."""
    half = idle_seconds // 2
    return (
        "jupyter",
        "lab",
        "--ServerApp.ip=0.0.0.0",
        f"--ServerApp.port={PORT}",
        "--ServerApp.open_browser=False",
        f"--ServerApp.root_dir={HOME}",
        f"--ServerApp.shutdown_no_activity_timeout={half}",
        f"--MappingKernelManager.cull_idle_timeout={half}",
        "--MappingKernelManager.cull_interval=60",
        "--MappingKernelManager.cull_connected=True",
        "--MappingKernelManager.cull_busy=False",
        f"--TerminalManager.cull_inactive_timeout={half}",
        "--TerminalManager.cull_interval=60",
    )


def _session(name: str, args: NotebookArgs) -> dict[str, Any]:
    target = args.target
    token: dict[str, str | SecretKey] = {"JUPYTER_TOKEN": args.token} if args.token else {}
    pod = replace(
        args.pod,
        command=command(args.idle_seconds),
        args=(),
        env={"HOME": HOME, **token, **args.pod.env},
        volumes={**args.pod.volumes, "home": Claim(claim=f"{name}-home", path=HOME)},
    )
    server = container(
        CONTAINER,
        pod,
        ports=[{"name": "http", "containerPort": PORT, "protocol": "TCP"}],
        readinessProbe={"tcpSocket": {"port": PORT}, "periodSeconds": 5},
    )
    policy = [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata(
            f"{name}-{args.session}", target, queued_as=args.priority, annotations={SKIP_AWAIT: "true"}
        ),
        "spec": {
            "activeDeadlineSeconds": args.longest_seconds,
            "backoffLimit": NOT_RETRIED,
            "completions": 1,
            "parallelism": 1,
            "podFailurePolicy": {"rules": policy},
            "suspend": args.suspend,
            "ttlSecondsAfterFinished": HOUR,
            "template": {
                "metadata": pod_metadata(name, pod, target, NOT_MOVED, more={LABEL: name}),
                "spec": {**pod_spec(pod, target, [server], priority=args.priority), "restartPolicy": "Never"},
            },
        },
    }


def _home(name: str, args: NotebookArgs) -> dict[str, Any]:
    """The disk. The first pod decides its zone, so the engine can't wait until it is bound."""
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": args.target.storage_class,
        "resources": {"requests": {"storage": args.home_size}},
    }
    meta = metadata(f"{name}-home", args.target, annotations={SKIP_AWAIT: "true"})
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec}


def _address(name: str, args: NotebookArgs) -> dict[str, Any]:
    """A name inside the cluster; `kubectl port-forward service/NAME 8888` leads a browser to it."""
    port = {"name": "http", "port": PORT, "targetPort": "http", "protocol": "TCP"}
    spec = {"selector": {LABEL: name}, "ports": [port], "type": "ClusterIP"}
    meta = metadata(name, args.target, annotations={SKIP_AWAIT: "true"})
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}


def _problems(args: NotebookArgs, spec: dict[str, Any]) -> Iterator[Problem]:
    yield from bounds_problems(args.longest_seconds, HOUR, NOT_RETRIED)
    yield from count_problems("idle_seconds", args.idle_seconds, 600, 8 * HOUR)
    if not args.session.isdecimal():
        yield from (Problem("session", each.rule, each.value, each.fix) for each in name_problems(args.session))
    if not is_amount(args.home_size):
        yield Problem("home_size", "a size is a quantity of Kubernetes", args.home_size, "Write 50Gi.")
    if args.pod.command or args.pod.args:
        rule = "the command of a notebook is Jupyter's own, which ends when idle"
        yield Problem("pod.command", rule, [*args.pod.command, *args.pod.args], "Leave it out.")
    yield from suspended_problems(args.suspend, args.target)
    yield from pod_problems("pod", spec, args.target)
    yield from spot_problems("pod", spec, args.target)
