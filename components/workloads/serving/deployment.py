"""A model server as a plain Deployment, autoscaled by KEDA.

The model is staged from S3 before the server starts. Autoscaler, PodDisruptionBudget and probes are
configured so that a rollout, a drain or a load peak loses no requests.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pulumi

from components.base.operator import object_with
from components.workloads.checks.jobs import count_problems
from components.workloads.checks.pods import pod_problems
from components.workloads.component import Workload, WorkloadManifest, WorkloadManifests, refuse_if_any
from components.workloads.metadata import metadata, pod_metadata
from components.workloads.pods import Pod, Staged, container, pod_spec
from components.workloads.serving import picker as pickers
from components.workloads.serving.picker import Picked, Picker
from components.workloads.serving.scaling import (
    Autoscaling,
    Scaled,
    probes,
    scaled_object,
    scaling_problems,
    server_problems,
)
from components.workloads.target import Target
from spec.settings.problems import Problem
from spec.teams.labels import SERVING

CONTAINER: Final = "server"
MODEL_PATH: Final = "/models"
DRAIN_SECONDS: Final = 15
"""Seconds between removal from the Service and SIGTERM, during which requests may still arrive."""
NODE_SECONDS: Final = 1200  # seconds for a GPU node to start and pull an image of 10 GB, before the model is loaded


@dataclass(frozen=True, kw_only=True)
class ModelDeploymentArgs:
    """Inputs of `ModelDeployment`.

    Attributes:
        target: The target platform and namespace.
        pod: The server. The model is in `/models`.
        model_uri: URI of the model, as that of `Staged`: `s3://bucket/folder`, `models:/ranker/12`.
        model_size: Disk space for it on the node: `"40Gi"`.
        port: Port of the server and of the Service.
        metrics_port: Port of its metrics, at `/metrics`; by default the server's port.
        health_path: Path that returns 200 once the model is loaded.
        load_seconds: Maximum time to load the model.
        autoscaling: Limits and metrics of autoscaling.
        priority: Priority class.
        picker: Endpoint picker that chooses the replica of each request; by default the Service chooses at random.
    """

    target: Target
    pod: Pod
    model_uri: str
    model_size: str
    port: int = 8000
    metrics_port: int | None = None
    health_path: str = "/health"
    load_seconds: int = 900
    autoscaling: Autoscaling = field(default_factory=Autoscaling)
    priority: str = "production-inference"
    picker: Picker | None = None


def model_deployment(name: str, args: ModelDeploymentArgs) -> WorkloadManifests:
    """The manifests of a model server.

    Raises:
        WorkloadRefused: With all problems.
    """
    deployment = _deployment(name, args)
    picking = _picking(name, args)
    refuse_if_any("ModelDeployment", name, _problems(args, deployment["spec"]["template"]["spec"], picking))
    return {
        "deployment": WorkloadManifest(deployment, timeout_seconds=args.load_seconds + NODE_SECONDS),
        "service": WorkloadManifest(_service(name, pickers.name_of(name) if args.picker else name, args)),
        "budget": WorkloadManifest(_budget(name, args.target)),
        "metrics": WorkloadManifest(_pod_monitor(name, args.target, _metrics_port_name(args))),
        "autoscaler": WorkloadManifest(_autoscaler(name, args), needs=("deployment",)),
        **{key: WorkloadManifest(manifest) for key, manifest in picking.items()},
    }


class ModelDeployment(Workload):
    """The resources of a model server."""

    PULUMI_TYPE: Final = "slipway:workloads:ModelDeployment"

    def __init__(self, name: str, args: ModelDeploymentArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, model_deployment(name, args), args.target, opts)


def _deployment(name: str, args: ModelDeploymentArgs) -> dict[str, Any]:
    target = args.target
    model = Staged(uri=args.model_uri, path=MODEL_PATH, size=args.model_size)
    pod = replace(args.pod, volumes={**args.pod.volumes, "model": model})
    pod = replace(pod, grace_seconds=max(pod.grace_seconds, 2 * DRAIN_SECONDS))
    server = container(
        CONTAINER,
        pod,
        target,
        ports=_ports(args),
        lifecycle={"preStop": {"sleep": {"seconds": DRAIN_SECONDS}}},
        **probes(args.health_path, args.port, args.load_seconds),
    )
    spec = {
        **pod_spec(pod, target, [server], priority=args.priority),
        "topologySpreadConstraints": [
            _spread(name, "topology.kubernetes.io/zone"),
            _spread(name, "kubernetes.io/hostname"),
        ],
    }
    # No `replicas`: the autoscaler sets them, and an update must not reset them.
    body = {
        "selector": {"matchLabels": _selected(name)},
        # One may be unavailable, so that a rollout makes progress even if every GPU is in use.
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}},
        "progressDeadlineSeconds": args.load_seconds + NODE_SECONDS,
        "template": {"metadata": pod_metadata(name, pod, target, more={SERVING: "true"}), "spec": spec},
    }
    return object_with("apps/v1", "Deployment", metadata(name, target, queued_as=args.priority), spec=body)


def _ports(args: ModelDeploymentArgs) -> list[dict[str, Any]]:
    ports = [{"name": "http", "containerPort": args.port, "protocol": "TCP"}]
    if args.metrics_port not in (None, args.port):
        ports.append({"name": "metrics", "containerPort": args.metrics_port, "protocol": "TCP"})
    return ports


def _selected(name: str) -> dict[str, str]:
    return {"app.kubernetes.io/name": name}


def _spread(name: str, key: str) -> dict[str, Any]:
    return {
        "maxSkew": 1,
        "topologyKey": key,
        # Preferred, not required.
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": _selected(name)},
    }


def _picking(name: str, args: ModelDeploymentArgs) -> dict[str, dict[str, Any]]:
    """The endpoint picker and what it has beside its pods, by role; nothing without one."""
    if args.picker is None:
        return {}
    model = Picked(
        name=name,
        port=args.port,
        metrics_port=args.metrics_port or args.port,
        priority=args.priority,
        drain_seconds=DRAIN_SECONDS,
        grace_seconds=max(args.pod.grace_seconds, 2 * DRAIN_SECONDS),
    )
    own = pickers.name_of(name)
    return {
        "picker": pickers.deployment(args.picker, model, args.target),
        "picker-budget": _budget(own, args.target),
        "picker-metrics": _pod_monitor(own, args.target, "metrics"),
        "replicas": _service(pickers.replicas_of(name), name, args),
    }


def _service(name: str, pods: str, args: ModelDeploymentArgs) -> dict[str, Any]:
    port = {"name": "http", "port": args.port, "targetPort": "http", "protocol": "TCP"}
    spec = {"selector": _selected(pods), "ports": [port], "type": "ClusterIP"}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata(name, args.target), "spec": spec}


def _budget(name: str, target: Target) -> dict[str, Any]:
    """A PodDisruptionBudget: one pod at a time. `minAvailable` would block eviction of the last replica, and so a drain
    of its node, forever. Pods that aren't ready don't block a drain."""
    spec = {
        "maxUnavailable": 1,
        "selector": {"matchLabels": _selected(name)},
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    }
    meta = metadata(name, target)
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": spec}


def _metrics_port_name(args: ModelDeploymentArgs) -> str:
    return "http" if args.metrics_port in (None, args.port) else "metrics"


def _pod_monitor(name: str, target: Target, port: str) -> dict[str, Any]:
    body = {
        "selector": {"matchLabels": _selected(name)},
        "podMetricsEndpoints": [{"port": port, "path": "/metrics", "interval": "15s"}],
    }
    return object_with("monitoring.coreos.com/v1", "PodMonitor", metadata(name, target), spec=body)


def _autoscaler(name: str, args: ModelDeploymentArgs) -> dict[str, Any]:
    scaled = Scaled(namespace=args.target.namespace, deployment=name, mig=bool(args.pod.resources.mig))
    spec = scaled_object(args.autoscaling, scaled)
    return object_with("keda.sh/v1alpha1", "ScaledObject", metadata(name, args.target), spec=spec)


def _problems(args: ModelDeploymentArgs, spec: dict[str, Any], picking: dict[str, dict[str, Any]]) -> Iterator[Problem]:
    yield from server_problems(args.health_path, args.port, args.load_seconds, args.target)
    if args.metrics_port is not None:
        yield from count_problems("metrics_port", args.metrics_port, 1, 65535)
    yield from scaling_problems(args.autoscaling, args.target)
    yield from pod_problems("pod", spec, args.target, at_once=args.autoscaling.max_replicas)
    if args.picker is not None:
        yield from pickers.problems(args.picker, args.target)
        pods = picking["picker"]["spec"]["template"]["spec"]
        yield from pod_problems("picker", pods, args.target, at_once=args.picker.replicas)
