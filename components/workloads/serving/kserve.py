"""A model on KServe: an InferenceService with its runtime, and a second one for a canary.

KServe's `canaryTrafficPercent` works only with Knative; in Standard mode it is accepted but has no effect (KServe docs,
"Canary Rollout Strategy"). There an InferenceGraph splits the requests between two services, and both versions are in
the program, so that the result doesn't depend on what was deployed before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import pulumi

from components.workloads.checks.bounds import count_problems, served_problems
from components.workloads.checks.pods import pod_problems
from components.workloads.component import Workload, WorkloadManifest, WorkloadManifests
from components.workloads.metadata import SKIP_AWAIT, metadata
from components.workloads.pods import Pod, container, environment, pod_spec
from components.workloads.refusal import refuse_if_any
from components.workloads.serving.scaling import BEHAVIOUR, Autoscaling, queries, scaling_problems
from components.workloads.serving.server import HOST_LABEL, probes, server_problems, uri_problems
from components.workloads.target import Target
from spec.settings.addons.serving import Knative, Kserve
from spec.settings.problems import Problem

API: Final = "serving.kserve.io/v1beta1"
CONTAINER: Final = "kserve-container"
"""Name that KServe requires for the server's container (v0.20)."""
_OF_RUNTIME: Final = ("containers", "volumes", "nodeSelector", "affinity", "tolerations")
"""Pod fields that a ServingRuntime has; the others are in the InferenceService."""


@dataclass(frozen=True, kw_only=True)
class Canary:
    """A canary: a new version beside the current one.

    Attributes:
        storage_uri: URI of the new version.
        percent: Percentage of the requests that it gets.
        replicas: Its number of replicas.
    """

    storage_uri: str
    percent: int
    replicas: int = 1


@dataclass(frozen=True, kw_only=True)
class ModelServerArgs:
    """Inputs of `ModelServer`.

    Attributes:
        target: The target platform and namespace.
        runtime: The server: a pod, or the name of one of the platform's runtimes (`vllm-a100-2g.20gb`). `{{.Name}}` in
            its arguments is the name of the service; the model is in `/mnt/models`.
        model_format: Model format: `vLLM`, `onnx`.
        storage_uri: URI of the model: `s3://bucket/folder`.
        replicas: Number of replicas without autoscaling.
        autoscaling: Limits and metrics of autoscaling; only with a pod as `runtime`, whose metrics are known.
        canary: A new version beside this one.
        split: Keep the InferenceGraph even without a canary, so that the address of clients doesn't change.
        mode: Deployment mode of KServe. Knative splits traffic itself, between this and the last revision.
        port: Port of the server.
        health_path: Path that returns 200 once the model is loaded.
        load_seconds: Maximum time to load the model.
        priority: Priority class.
    """

    target: Target
    runtime: Pod | str
    model_format: str
    storage_uri: str
    replicas: int = 1
    autoscaling: Autoscaling | None = None
    canary: Canary | None = None
    split: bool = False
    mode: Literal["Standard", "Knative"] = "Standard"
    port: int = 8080
    health_path: str = "/health"
    load_seconds: int = 900
    priority: str = "production-inference"


def model_server(name: str, args: ModelServerArgs) -> WorkloadManifests:
    """The manifests of a model.

    Raises:
        WorkloadRefused: With all problems.
    """
    refuse_if_any("ModelServer", name, _problems(name, args))
    manifests: dict[str, WorkloadManifest] = {}
    needs: tuple[str, ...] = ()
    if isinstance(args.runtime, Pod):
        manifests["runtime"] = WorkloadManifest(_runtime(name, args, args.runtime))
        needs = ("runtime",)
    manifests["service"] = WorkloadManifest(
        _service(name, args, args.storage_uri, args.replicas, args.autoscaling), needs
    )
    if args.mode == "Knative":
        return manifests
    served = [*needs, "service"]
    if args.canary:
        canary = _service(f"{name}-canary", args, args.canary.storage_uri, args.canary.replicas, None, runtime=name)
        manifests["canary"] = WorkloadManifest(canary, needs)
        served.append("canary")
    if args.canary or args.split:
        manifests["split"] = WorkloadManifest(_split(name, args), tuple(served))
    return manifests


class ModelServer(Workload):
    """The resources of a model."""

    PULUMI_TYPE: Final = "slipway:workloads:ModelServer"

    def __init__(self, name: str, args: ModelServerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, model_server(name, args), args.target, opts)


def _pod(args: ModelServerArgs, pod: Pod) -> dict[str, Any]:
    server = container(
        CONTAINER,
        pod,
        args.target,
        ports=[{"containerPort": args.port, "protocol": "TCP"}],
        **probes(args.health_path, args.port, args.load_seconds),
    )
    return pod_spec(pod, args.target, [server], priority=args.priority)


def _runtime(name: str, args: ModelServerArgs, pod: Pod) -> dict[str, Any]:
    """The ServingRuntime of this model; it has only containers, volumes and placement of a pod."""
    spec = _pod(args, pod)
    taken = {key: spec[key] for key in _OF_RUNTIME if key in spec}
    return {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "ServingRuntime",
        "metadata": metadata(name, args.target),
        "spec": {
            "annotations": {"prometheus.kserve.io/port": str(args.port), "prometheus.kserve.io/path": "/metrics"},
            "supportedModelFormats": [{"name": args.model_format, "version": "1"}],
            **taken,
        },
    }


def _service(
    name: str,
    args: ModelServerArgs,
    uri: str,
    replicas: int,
    scaling: Autoscaling | None,
    runtime: str | None = None,
) -> dict[str, Any]:
    knative = args.canary if args.mode == "Knative" else None
    own = isinstance(args.runtime, Pod)
    model = {
        "modelFormat": {"name": args.model_format},
        "runtime": (runtime or name) if own else args.runtime,
        "storageUri": knative.storage_uri if knative else uri,
        # The container of a runtime of its own has them already.
        **({} if own or not args.target.env else {"env": environment(args.target.env)}),
    }
    predictor: dict[str, Any] = {
        **_pod_fields(args),
        "minReplicas": scaling.min_replicas if scaling else replicas,
        "maxReplicas": scaling.max_replicas if scaling else replicas,
        "model": model,
        **({"canaryTrafficPercent": knative.percent} if knative else {}),
        **({"autoScaling": _metrics(name, args, scaling)} if scaling else {}),
    }
    # `none`: with a fixed number of replicas there is no autoscaler; KServe's default would scale by CPU.
    scaler = {} if args.mode == "Knative" else {"serving.kserve.io/autoscalerClass": "keda" if scaling else "none"}
    notes = {"serving.kserve.io/deploymentMode": args.mode, **scaler, SKIP_AWAIT: "true"}
    meta = metadata(name, args.target, queued_as=args.priority, annotations=notes)
    return {"apiVersion": API, "kind": "InferenceService", "metadata": meta, "spec": {"predictor": predictor}}


def _pod_fields(args: ModelServerArgs) -> dict[str, Any]:
    """Pod fields that are in the InferenceService and not in the runtime."""
    if not isinstance(args.runtime, Pod):
        return {"priorityClassName": args.priority, "serviceAccountName": args.target.service_account}
    spec = _pod(args, args.runtime)
    return {key: value for key, value in spec.items() if key not in _OF_RUNTIME}


def _metrics(name: str, args: ModelServerArgs, scaling: Autoscaling) -> dict[str, Any]:
    resources = args.runtime.resources if isinstance(args.runtime, Pod) else None
    assert resources is not None, "refused by _problems"  # noqa: S101
    selector = f'namespace="{args.target.namespace}",pod=~"{name}-predictor-.*"'
    metrics = [
        {
            "type": "External",
            "external": {
                "metric": {"backend": "prometheus", "serverAddress": scaling.prometheus, "query": query},
                "target": {"type": "AverageValue", "averageValue": str(threshold)},
            },
        }
        for query, threshold in queries(scaling, resources, selector).values()
    ]
    return {"metrics": metrics, "behavior": BEHAVIOUR}


def _split(name: str, args: ModelServerArgs) -> dict[str, Any]:
    percent = args.canary.percent if args.canary else 0
    steps = [{"name": "stable", "serviceName": name, "weight": 100 - percent}]
    if args.canary:
        steps.append({"name": "canary", "serviceName": f"{name}-canary", "weight": percent})
    return {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "InferenceGraph",
        "metadata": metadata(
            f"{name}-split",
            args.target,
            annotations={"serving.kserve.io/deploymentMode": args.mode, SKIP_AWAIT: "true"},
        ),
        "spec": {
            "minReplicas": 2,
            "maxReplicas": 4,
            "nodes": {"root": {"routerType": "Splitter", "steps": steps}},
            "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": "512Mi"}},
        },
    }


def _problems(name: str, args: ModelServerArgs) -> Iterator[Problem]:
    target, canary, scaling = args.target, args.canary, args.autoscaling
    yield from served_problems(target, "InferenceService", Kserve, *([Knative] if args.mode == "Knative" else []))
    yield from server_problems(args.health_path, args.port, args.load_seconds, target)
    yield from uri_problems("storage_uri", args.storage_uri)
    yield from count_problems("replicas", args.replicas, 1, 100)
    host = f"{name}-canary-predictor-{target.namespace}"
    if len(host) > HOST_LABEL:
        rule = f"{host}, the first label of its host name, has at most {HOST_LABEL} characters"
        yield Problem("name", rule, name, f"Shorten it by {len(host) - HOST_LABEL} characters.")
    if canary:
        yield from uri_problems("canary.storage_uri", canary.storage_uri)
        yield from count_problems("canary.percent", canary.percent, 1, 99)
        yield from count_problems("canary.replicas", canary.replicas, 1, 100)
    if scaling:
        yield from scaling_problems(scaling, target)
    if isinstance(args.runtime, Pod):
        maximum = (scaling.max_replicas if scaling else args.replicas) + (canary.replicas if canary else 0)
        yield from pod_problems("runtime", _pod(args, args.runtime), target, at_once=maximum)
    else:
        yield from _named_problems(args.runtime, args)


def _named_problems(runtime: str, args: ModelServerArgs) -> Iterator[Problem]:
    """What is wrong with a runtime of the platform."""
    if args.autoscaling:
        fix = "Give a pod as runtime, or a number of replicas."
        yield Problem("autoscaling", "only a runtime of one's own can scale: its metrics are known", runtime, fix)
    known = args.target.runtimes
    if known is not None and runtime not in known:
        fix = f"There are: {', '.join(sorted(known)) or 'none'}."
        yield Problem("runtime", "a runtime is a pod, or one of the platform's", runtime, fix)
