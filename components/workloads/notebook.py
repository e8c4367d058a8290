"""A notebook server for one user: a session that ends when idle, and a disk that is kept.

The session is a Job: a server that shuts itself down frees its GPU, whereas a Deployment or StatefulSet would restart
it. It is queued like any job, and can be preempted.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import pulumi

from components.base.operator import object_with
from components.base.placement import NOT_MOVED
from components.workloads.checks.jobs import bounds_problems, count_problems, lifetime_problems, suspended_problems
from components.workloads.checks.pods import pod_problems, spot_problems
from components.workloads.component import Workload, WorkloadManifest, WorkloadManifests, name_problems, refuse_if_any
from components.workloads.metadata import SKIP_AWAIT, metadata, pod_metadata
from components.workloads.pods import Claim, Pod, SecretKey, container, pod_spec
from components.workloads.target import Target
from spec.quantities import is_amount
from spec.settings.problems import Problem

CONTAINER: Final = "notebook"
PORT: Final = 8888
HOME: Final = "/home/work"
HOUR: Final = 3600
LABEL: Final = "platform.slipway/notebook"  # label of the pods of all sessions of a notebook
NOT_RETRIED: Final = 0
"""A failed server isn't restarted, so that the user looks at the cause; an interrupted one (Spot, preemption) is, which
doesn't count as a retry."""


@dataclass(frozen=True, kw_only=True)
class NotebookArgs:
    """Inputs of a notebook.

    Attributes:
        target: The target platform and namespace.
        pod: Image with JupyterLab, pools, resources; the component sets its command.
        session: Name of the session. Another name starts a new one, with the same disk.
        idle_seconds: Idle time after which a kernel, and then the server, ends.
        longest_seconds: Maximum duration of a session.
        home_size: Size of the disk, which is kept when sessions end.
        token: Secret with Jupyter's access token; by default Jupyter generates one and logs it.
        priority: Priority class.
        suspend: Create it suspended; the queue starts it.
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
        WorkloadRefused: With all problems.
    """
    job = _session(name, args)
    refuse_if_any("Notebook", name, _problems(args, job["spec"]["template"]["spec"]))
    return {
        "home": WorkloadManifest(_home(name, args)),
        "address": WorkloadManifest(_address(name, args)),
        "session": WorkloadManifest(job, ("home",)),
    }


class Notebook(Workload):
    """The resources of a notebook."""

    PULUMI_TYPE: Final = "slipway:workloads:Notebook"

    def __init__(self, name: str, args: NotebookArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, notebook(name, args), args.target, opts)


def command(idle_seconds: int) -> tuple[str, ...]:
    """JupyterLab that shuts down when idle: first kernels and terminals, then the server (Jupyter Server 2,
    configuration reference). A computing kernel isn't idle, even if no browser is connected."""
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
        args.target,
        ports=[{"name": "http", "containerPort": PORT, "protocol": "TCP"}],
        readinessProbe={"tcpSocket": {"port": PORT}, "periodSeconds": 5},
    )
    policy = [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]
    body = {
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
    }
    meta = metadata(f"{name}-{args.session}", target, queued_as=args.priority, annotations={SKIP_AWAIT: "true"})
    return object_with("batch/v1", "Job", meta, spec=body)


def _home(name: str, args: NotebookArgs) -> dict[str, Any]:
    """The disk. The first pod determines its zone, so Pulumi can't wait until it is bound."""
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": args.target.storage_class,
        "resources": {"requests": {"storage": args.home_size}},
    }
    meta = metadata(f"{name}-home", args.target, annotations={SKIP_AWAIT: "true"})
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec}


def _address(name: str, args: NotebookArgs) -> dict[str, Any]:
    """The Service; `kubectl port-forward service/NAME 8888` makes it available to a browser."""
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
        yield Problem("home_size", "a size is a Kubernetes quantity", args.home_size, "Write 50Gi.")
    if args.pod.command or args.pod.args:
        rule = "a notebook sets the command itself, so that Jupyter shuts down when idle"
        yield Problem("pod.command", rule, [*args.pod.command, *args.pod.args], "Remove it.")
    yield from suspended_problems(args.suspend, args.target, "Job")
    yield from pod_problems("pod", spec, args.target)
    yield from spot_problems("pod", spec, args.target)
    yield from lifetime_problems("longest_seconds", args.longest_seconds, spec, args.target)
