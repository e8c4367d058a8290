"""A model on KServe: an InferenceService with its runtime, and a second one for a canary.

KServe's `canaryTrafficPercent` works only with Knative; in Standard mode it is accepted but has no effect (KServe docs,
"Canary Rollout Strategy"). There an InferenceGraph splits the requests between two services, and both versions are in
the program, so that the result doesn't depend on what was deployed before.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

import pulumi

from components.addons.kserve.runtimes import METRICS_PATH, METRICS_PORT, ErrorMetrics, NamedRuntime
from components.base.canaries import CANARY, ROLLBACK, SELECTORS, STABLE, VERSION, Rollback, matched
from components.base.operator import object_with
from components.pools.karpenter import PATCH_FORCE
from components.workloads.checks.jobs import count_problems, served_problems
from components.workloads.checks.models import model_pools, model_problems
from components.workloads.checks.pods import pod_problems
from components.workloads.component import Workload, WorkloadManifest, WorkloadManifests, refuse_if_any
from components.workloads.metadata import SKIP_AWAIT, metadata
from components.workloads.pods import Pod, Staged, container, environment, pod_spec
from components.workloads.serving.scaling import (
    BEHAVIOUR,
    HOST_LABEL,
    Autoscaling,
    Scaled,
    probes,
    queries,
    scaling_problems,
    server_problems,
)
from components.workloads.target import Target
from spec.settings.addons.serving import Knative, Kserve
from spec.settings.problems import Problem


@dataclass(frozen=True, kw_only=True)
class Canary:
    """A canary: a new version beside the current one.

    Attributes:
        storage_uri: URI of the new version.
        percent: Percentage of the requests that it gets.
        replicas: Its number of replicas; with autoscaling the minimum. The maximum is then its percentage of
            `max_replicas`.
        max_error_percent: Maximum share of failed requests, in percent: with more, the platform gives the canary no
            requests any more (`kserve.canaryRollback`). None: nothing rolls it back.
        errors: Counters of the server's failed requests; by default those of the named runtime's server.
    """

    storage_uri: str
    percent: int
    replicas: int = 1
    max_error_percent: float | None = None
    errors: ErrorMetrics | None = None


@dataclass(frozen=True, kw_only=True)
class ModelServerArgs:
    """Inputs of `ModelServer`.

    Attributes:
        target: The target platform and namespace.
        runtime: The server: a pod, or the name of one of the platform's runtimes (`vllm-a100-2g.20gb`). `{{.Name}}` in
            its arguments is the name of the service; the model is in `/mnt/models`.
        model_format: Model format: `vLLM`, `onnx`.
        storage_uri: URI of the model: `s3://bucket/folder`, or `oci+native://registry/name:tag` of an image that has it
            in `/models`, which the kubelet loads once for all pods of a node.
        replicas: Number of replicas without autoscaling.
        autoscaling: Limits and metrics of autoscaling; not with Knative, which scales by requests.
        canary: A new version beside this one.
        path: Path to which the InferenceGraph posts every request (`/v1/chat/completions`); by default that of KServe's
            protocol, with the name of each InferenceService (`/v1/models/NAME:predict`), which vLLM doesn't serve.
        split: Keep the InferenceGraph even without a canary, so that the address of clients doesn't change.
        mode: Deployment mode of KServe. Knative splits traffic itself, between this and the last revision.
        port: Port of the server.
        health_path: Path that returns 200 once the model is loaded; a named runtime of a known platform has its own.
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
    path: str | None = None
    split: bool = False
    mode: Literal["Standard", "Knative"] = "Standard"
    port: int = 8080
    health_path: str = "/health"
    load_seconds: int = 900
    priority: str = "production-inference"


def health_path(name: str, args: ModelServerArgs) -> str:
    """Where the server says that its model is loaded."""
    if isinstance(args.runtime, Pod) or args.runtime not in (args.target.runtimes or {}):
        return args.health_path
    runtime = (args.target.runtimes or {})[args.runtime]
    return runtime.server.health.replace(NAME, name)


def scaled(name: str, args: ModelServerArgs) -> Scaled:
    """The Deployment of a service, and the metrics that its server has."""
    known = Scaled(namespace=args.target.namespace, deployment=f"{name}-predictor", mig=False)
    if isinstance(args.runtime, Pod):
        return replace(known, mig=bool(args.runtime.resources.mig))
    runtime = (args.target.runtimes or {})[args.runtime]
    return replace(known, mig=bool(runtime.place and runtime.place.mig), waiting_metric=runtime.server.waiting)


def named_problems(name: str, args: ModelServerArgs) -> Iterator[Problem]:
    """What is wrong with a runtime of the platform."""
    known, scaling = args.target.runtimes, args.autoscaling
    if known is not None and name not in known:
        fix = f"There are: {', '.join(sorted(known)) or 'none'}."
        yield Problem("runtime", "a runtime is a pod, or one of the platform's", name, fix)
    if scaling is None:
        return
    if known is None:
        rule = "the metrics of a named runtime are known from the stack file, and this target has none"
        yield Problem("autoscaling", rule, name, "Make the target with infra.target, or give a pod.")
    elif name in known:
        yield from _metric_problems(known[name], scaling)


def _metric_problems(runtime: NamedRuntime, scaling: Autoscaling) -> Iterator[Problem]:
    """Metrics that the server of a runtime does not have: nothing would be scaled by them."""
    if scaling.gpu_percent is not None and runtime.place is None:
        rule = "this runtime has no GPU whose utilization could be measured"
        yield Problem("autoscaling.gpu_percent", rule, scaling.gpu_percent, "Set gpu_percent=None.")
    if scaling.waiting is not None and (scaling.waiting_metric or runtime.server.waiting) is None:
        rule = "no metric of this server is known to count waiting requests"
        fix = "Set waiting=None, or waiting_metric to the name of one."
        yield Problem("autoscaling.waiting", rule, scaling.waiting, fix)


API: Final = "serving.kserve.io/v1beta1"
NAME: Final = "{{.Name}}"  # what KServe replaces by the name of the InferenceService
CONTAINER: Final = "kserve-container"  # name that KServe requires for the server's container (v0.20)
_OF_RUNTIME: Final = ("containers", "volumes", "nodeSelector", "affinity", "tolerations")
"""Pod fields that a ServingRuntime has; the others are in the InferenceService."""


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
        scaling = _canary_scaling(args, args.canary)
        canary = _service(f"{name}-canary", args, args.canary.storage_uri, args.canary.replicas, scaling, runtime=name)
        if args.path is not None and (same := _named_as(name, args)):
            canary["spec"]["predictor"]["model"]["args"] = same
        if args.canary.max_error_percent is not None:
            # Pods of an older version run until those of a new one are ready: only those of this one count.
            canary["metadata"]["annotations"][VERSION] = args.canary.storage_uri
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
            "annotations": {METRICS_PORT: str(args.port), METRICS_PATH: "/metrics"},
            "supportedModelFormats": [{"name": args.model_format, "version": "1"}],
            **taken,
        },
    }


def _service(
    name: str, args: ModelServerArgs, uri: str, replicas: int, scaling: Autoscaling | None, runtime: str | None = None
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
    notes = {
        "serving.kserve.io/deploymentMode": args.mode,
        **scaler,
        # KServe copies it to the Ingress; without it the load balancer asks `/`, which most servers answer with 404.
        "alb.ingress.kubernetes.io/healthcheck-path": health_path(name, args),
        SKIP_AWAIT: "true",
    }
    meta = metadata(name, args.target, queued_as=args.priority, annotations=notes)
    return {"apiVersion": API, "kind": "InferenceService", "metadata": meta, "spec": {"predictor": predictor}}


def _pod_fields(args: ModelServerArgs) -> dict[str, Any]:
    """Pod fields that are in the InferenceService and not in the runtime."""
    if not isinstance(args.runtime, Pod):
        return {"priorityClassName": args.priority, "serviceAccountName": args.target.service_account}
    spec = _pod(args, args.runtime)
    return {key: value for key, value in spec.items() if key not in _OF_RUNTIME}


def _metrics(name: str, args: ModelServerArgs, scaling: Autoscaling) -> dict[str, Any]:
    """`autoScaling` of a predictor. KServe reads `value` alone and KEDA divides by the number of pods, its default
    (kserve v0.20.0, pkg/controller/v1beta1/inferenceservice/reconcilers/keda, `getKedaMetrics`); of the behavior it
    uses the stabilization windows."""
    metrics = [
        {
            "type": "External",
            "external": {
                "metric": {"backend": "prometheus", "serverAddress": scaling.prometheus, "query": query},
                "target": {"type": "Value", "value": str(threshold)},
            },
        }
        for query, threshold in queries(scaling, scaled(name, args)).values()
    ]
    return {"metrics": metrics, "behavior": BEHAVIOUR}


def _canary_scaling(args: ModelServerArgs, canary: Canary) -> Autoscaling | None:
    """Autoscaling of a canary: the same metrics, up to its percentage of the replicas."""
    if args.autoscaling is None:
        return None
    share = -(-args.autoscaling.max_replicas * canary.percent // 100)
    return replace(args.autoscaling, min_replicas=canary.replicas, max_replicas=max(canary.replicas, share))


def _named_as(name: str, args: ModelServerArgs) -> list[str]:
    """Arguments with which the canary's server calls its model as the other does: a request names one model, whichever
    version gets it. KServe appends them to the runtime's (kserve v0.20.0, `MergeRuntimeContainers`)."""
    if isinstance(args.runtime, Pod):
        given = args.runtime.args
    else:
        runtime = (args.target.runtimes or {}).get(args.runtime)
        given = tuple(runtime.server.args) if runtime else ()
    return [each.replace(NAME, name) for each in given if NAME in each]


def _step(service: str, args: ModelServerArgs) -> dict[str, str]:
    """Where a step of the splitter posts. The router appends nothing to an address (kserve v0.20.0, cmd/router/main.go,
    `callService`); the one of a service has the path of its protocol (`GetPredictorEndpoint`)."""
    if args.path is None:
        return {"serviceName": service}
    return {"serviceUrl": f"http://{service}-predictor.{args.target.namespace}.svc.cluster.local{args.path}"}


def _split(name: str, args: ModelServerArgs) -> dict[str, Any]:
    percent = args.canary.percent if args.canary else 0
    steps = [{"name": STABLE, **_step(name, args), "weight": 100 - percent}]
    if args.canary:
        steps.append({"name": CANARY, **_step(f"{name}-canary", args), "weight": percent})
    # A rollback changes the weights, which `up` must be able to change after it.
    notes = {"serving.kserve.io/deploymentMode": args.mode, SKIP_AWAIT: "true", PATCH_FORCE: "true"}
    body = {
        "minReplicas": 2,
        "maxReplicas": 4,
        "nodes": {"root": {"routerType": "Splitter", "steps": steps}},
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": "512Mi"}},
    }
    meta = metadata(f"{name}-split", args.target, annotations={**notes, **_rollback(name, args)})
    return object_with("serving.kserve.io/v1alpha1", "InferenceGraph", meta, spec=body)


def _errors(args: ModelServerArgs) -> ErrorMetrics | None:
    """Counters of the failed requests of the canary's server."""
    given = args.canary.errors if args.canary else None
    if given or isinstance(args.runtime, Pod):
        return given
    runtime = (args.target.runtimes or {}).get(args.runtime)
    return runtime.server.errors if runtime else None


def _rollback(name: str, args: ModelServerArgs) -> dict[str, str]:
    """The annotation by which the platform rolls the canary back; nothing without a limit."""
    canary, errors = args.canary, _errors(args)
    if canary is None or canary.max_error_percent is None or errors is None:
        return {}
    rollback = Rollback(
        service=f"{name}-canary",
        version=canary.storage_uri,
        max_error_percent=canary.max_error_percent,
        failed=errors.failed,
        answered=errors.answered,
    )
    return {ROLLBACK: json.dumps(asdict(rollback))}


def _path_problems(args: ModelServerArgs) -> Iterator[Problem]:
    """A path to which the InferenceGraph can't post, or at which the canary doesn't answer."""
    if args.path is None:
        return
    if not args.path.startswith("/"):
        yield Problem("path", "a path must begin with /", args.path, "Write /v1/chat/completions.")
    if args.mode == "Knative":
        rule = "with Knative there is no InferenceGraph that posts to it"
        yield Problem("path", rule, args.path, "Remove it, or set mode to Standard.")
    known = None if isinstance(args.runtime, Pod) else (args.target.runtimes or {}).get(args.runtime)
    if args.canary and known and NAME in known.server.health:
        rule = f"{args.runtime} is ready when the model of its own name is, so a canary can't have another's name"
        yield Problem("path", rule, args.path, "Remove it: KServe's path has the name of each version.")


def _rollback_problems(args: ModelServerArgs, canary: Canary) -> Iterator[Problem]:
    """What would keep a canary from being rolled back."""
    path, limit = "canary.max_error_percent", canary.max_error_percent
    if limit is None:
        if canary.errors:
            rule = "counters are read only with a limit"
            yield Problem("canary.errors", rule, canary.errors.failed, "Set canary.max_error_percent, or remove it.")
        return
    if not 0.1 <= limit <= 99:
        yield Problem(path, "it must be from 0.1 to 99", limit, "Set a number from 0.1 to 99.")
    if args.mode == "Knative":
        rule = "with Knative there is no InferenceGraph whose weights could be changed"
        yield Problem(path, rule, limit, "Remove it, or set mode to Standard.")
    if args.target.rolls_back is False:
        rule = "the platform rolls no canaries back"
        yield Problem(path, rule, limit, "Set `canaryRollback: {}` of kserve in the stack's addons, or remove it.")
    errors = _errors(args)
    if errors is None:
        server = "a pod" if isinstance(args.runtime, Pod) else args.runtime
        rule = f"no metric of failed requests of {server} is known"
        yield Problem(path, rule, limit, "Set canary.errors to its counters, like VLLM_ERRORS, or remove it.")
        return
    for key, selectors in asdict(errors).items():
        if not 1 <= len(selectors) <= SELECTORS or not all(map(matched, selectors)):
            rule = f'these are 1 to {SELECTORS} counters, each name{{label="value"}}'
            yield Problem(f"canary.errors.{key}", rule, list(selectors), 'Write http_requests_total{status="5xx"}.')


def _problems(name: str, args: ModelServerArgs) -> Iterator[Problem]:
    target, canary, scaling = args.target, args.canary, args.autoscaling
    yield from served_problems(target, "InferenceService", Kserve, *([Knative] if args.mode == "Knative" else []))
    yield from server_problems(args.health_path, args.port, args.load_seconds, target)
    yield from model_problems("storage_uri", args.storage_uri, model_pools(args.runtime, target))
    yield from count_problems("replicas", args.replicas, 1, 100)
    yield from _path_problems(args)
    host = f"{name}-canary-predictor-{target.namespace}"
    if len(host) > HOST_LABEL:
        rule = f"{host}, the first label of its host name, has at most {HOST_LABEL} characters"
        yield Problem("name", rule, name, f"Shorten it by {len(host) - HOST_LABEL} characters.")
    if canary:
        yield from model_problems("canary.storage_uri", canary.storage_uri, model_pools(args.runtime, target))
        yield from count_problems("canary.percent", canary.percent, 1, 99)
        yield from count_problems("canary.replicas", canary.replicas, 1, 100)
        yield from _rollback_problems(args, canary)
    if scaling:
        yield from scaling_problems(scaling, target)
        if args.mode == "Knative":
            rule = "Knative scales by requests, and KServe applies these metrics only in Standard mode"
            yield Problem("autoscaling", rule, args.mode, "Remove it, or set mode to Standard.")
    if isinstance(args.runtime, Pod):
        second = _canary_scaling(args, canary) if canary else None
        of_canary = second.max_replicas if second else canary.replicas if canary else 0
        maximum = (scaling.max_replicas if scaling else args.replicas) + of_canary
        yield from pod_problems("runtime", _pod(args, args.runtime), target, at_once=maximum)
        for volume, source in args.runtime.volumes.items():
            if isinstance(source, Staged):
                rule = "a ServingRuntime has no init containers, so nothing can be staged for it"
                fix = "Use storage_uri, which KServe downloads, or a ModelDeployment."
                yield Problem(f"runtime.volumes.{volume}", rule, source.uri, fix)
    else:
        yield from named_problems(args.runtime, args)
