"""The endpoint picker of a model: each request goes to the replica that will answer it first.

A Service picks at random. The picker of the Gateway API Inference Extension knows how many requests wait at each
replica, how full its KV cache is, and which has the beginning of the prompt in its cache. Envoy asks it for the address
(ext-proc) and sends the request there; both are containers of one pod. This is what its project calls standalone: it
needs no Gateway, which no controller of AWS has for it, and finds replicas by their labels.

Flags and weights are those of the project's own chart, and Envoy's configuration that of its later one for pickers
without a Gateway (kubernetes-sigs/gateway-api-inference-extension: config/charts/inferencepool of v1.3.1,
config/charts/standalone of v1.5.0; read 2026-11), where no comment says otherwise.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from components.base.operator import object_with
from components.tenancy.roles import PICKER as ACCOUNT
from components.workloads.checks.jobs import count_problems, served_problems
from components.workloads.metadata import metadata, pod_metadata
from components.workloads.pods import Pod, Resources, container, pod_spec
from components.workloads.target import Target
from spec import strict_yaml
from spec.catalog.software import MANIFESTS
from spec.settings.addons.serving import EndpointPicker
from spec.settings.problems import Problem
from spec.teams.labels import SERVING

PICKER, PROXY = "endpoint-picker", "envoy"
ASKED, HEALTH, METRICS, READY = 9002, 9003, 9090, 19001
"""Ports of the picker, for Envoy, for its probes and for its metrics, and of Envoy for its own probe."""
PORT: Final = 8000  # port of the model in envoy.yaml
PROXY_RESOURCES: Final = Resources(cpu="1", memory="512Mi")
THREADS: Final = 2  # Of Envoy. By default it has one for each CPU of the node.
Engine = Literal["vllm", "sglang", "triton-tensorrt-llm"]


@dataclass(frozen=True, kw_only=True)
class Picker:
    """An endpoint picker before the replicas of a model.

    Attributes:
        pools: CPU pools that it may run on.
        engine: Server whose metrics it reads.
        replicas: Pickers at the same time. Each learns by itself which replica has which prompts in its cache.
        resources: Resources of the picker; Envoy has a vCPU and 512 MiB beside it.
    """

    pools: tuple[str, ...]
    engine: Engine = "vllm"
    replicas: int = 2
    resources: Resources = field(default_factory=lambda: Resources(cpu="1", memory="2Gi"))


@dataclass(frozen=True, kw_only=True)
class Picked:
    """The model before which a picker is.

    Attributes:
        name: Its Deployment.
        port: Port of its server, and of Envoy.
        metrics_port: Port of its server's metrics.
        priority: Its priority class.
        drain_seconds: Seconds between removal from the Service and SIGTERM.
        grace_seconds: Termination grace period of its pods, as long as an answer may take.
    """

    name: str
    port: int
    metrics_port: int
    priority: str
    drain_seconds: int
    grace_seconds: int


def name_of(model: str) -> str:
    """Name of the picker of a model, in the label by which its pods are selected."""
    return f"{model}-picker"


def replicas_of(model: str) -> str:
    """Name of the Service of its replicas, for requests that the picker doesn't know."""
    return f"{model}-replicas"


def deployment(picker: Picker, model: Picked, target: Target) -> dict[str, Any]:
    """Envoy and the picker, in each of several pods."""
    name = name_of(model.name)
    selected = {"matchLabels": {"app.kubernetes.io/name": name}}
    pod = Pod(
        image=MANIFESTS[PICKER].image,
        pools=picker.pools,
        resources=picker.resources,
        args=arguments(picker, model, target),
        grace_seconds=model.grace_seconds,
        api_token=True,
    )
    proxy = replace(
        pod,
        image=MANIFESTS[PROXY].image,
        resources=PROXY_RESOURCES,
        command=("envoy",),
        args=("--config-yaml", json.dumps(proxy_configuration(model, target)), "--disable-hot-restart",
              "--concurrency", str(THREADS), "--log-level", "warning"),
    )  # fmt: skip
    # Both end after the last request has come, and Envoy needs the picker until then.
    drained = {"lifecycle": {"preStop": {"sleep": {"seconds": model.drain_seconds}}}}
    alive = {"grpc": {"port": HEALTH}, "periodSeconds": 10, "failureThreshold": 3}
    containers = [
        container(
            PROXY,
            proxy,
            target,
            ports=[_port("http", model.port)],
            readinessProbe={"httpGet": {"path": "/ready", "port": READY}, "periodSeconds": 5, "failureThreshold": 1},
            **drained,
        ),
        container(
            PICKER,
            pod,
            target,
            ports=[_port("metrics", METRICS)],
            readinessProbe={**alive, "periodSeconds": 2},
            livenessProbe={**alive, "initialDelaySeconds": 5},
            **drained,
        ),
    ]
    # Its own name, from which it reads that of its Deployment for its metrics; without one it doesn't start.
    containers[-1]["env"].append({"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}})
    spec = {
        **pod_spec(pod, target, containers, priority=model.priority),
        "serviceAccountName": ACCOUNT,
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": selected,
            }
        ],
    }
    body = {
        "replicas": picker.replicas,
        "selector": selected,
        "template": {"metadata": pod_metadata(name, pod, target, more={SERVING: "true"}), "spec": spec},
    }
    return object_with("apps/v1", "Deployment", metadata(name, target, queued_as=model.priority), spec=body)


def _port(name: str, port: int) -> dict[str, Any]:
    return {"name": name, "containerPort": port, "protocol": "TCP"}


def arguments(picker: Picker, model: Picked, target: Target) -> tuple[str, ...]:
    """Flags of the picker (v1.3.1, pkg/epp/server/options.go)."""
    flags: dict[str, Any] = {
        "endpoint-selector": f"app.kubernetes.io/name={model.name}",
        "endpoint-target-ports": model.port,
        "pool-namespace": target.namespace,
        "grpc-port": ASKED,
        "grpc-health-port": HEALTH,
        "metrics-port": METRICS,
        # Envoy is in the same pod, and Prometheus has no token for it.
        "secure-serving": "false",
        "metrics-endpoint-auth": "false",
        "enable-pprof": "false",
        "tracing": "false",
        "zap-encoder": "json",
        "config-text": json.dumps(CONFIGURATION),
        **METRICS_OF[picker.engine],
    }
    if model.metrics_port != model.port:
        flags["model-server-metrics-port"] = model.metrics_port
    return tuple(f"--{name}={value}" for name, value in flags.items())


SCORERS: Final[Mapping[str, int]] = {"queue-scorer": 2, "kv-cache-utilization-scorer": 2, "prefix-cache-scorer": 3}
"""Weight of each of the picker's scorers: the shortest queue, the emptiest KV cache, the longest cached prompt."""


CONFIGURATION: Final[Mapping[str, Any]] = {
    "apiVersion": "inference.networking.x-k8s.io/v1alpha1",
    "kind": "EndpointPickerConfig",
    "plugins": [{"type": name} for name in SCORERS],
    "schedulingProfiles": [
        {"name": "default", "plugins": [{"pluginRef": name, "weight": weight} for name, weight in SCORERS.items()]}
    ],
}
METRICS_OF: Final[Mapping[Engine, Mapping[str, str]]] = strict_yaml.beside(__file__, "metrics")
"""Names of an engine's metrics, where they aren't vLLM's; none for what it doesn't have (config/charts/epplib of
v1.5.0)."""
_ENVOY: Final = Path(__file__).with_name("envoy.yaml")


def proxy_configuration(model: Picked, target: Target) -> dict[str, Any]:
    """Envoy's configuration for a model."""
    configuration: dict[str, Any] = strict_yaml.one(_ENVOY.read_text(encoding="utf-8"))
    named = {"replicas": f"{replicas_of(model.name)}.{target.namespace}.svc.cluster.local"}
    for address in addresses(configuration):
        address["address"] = named.get(address["address"], address["address"])
        if address["port_value"] == PORT:
            address["port_value"] = model.port
    return configuration


def addresses(part: Any) -> Iterator[dict[str, Any]]:
    """Every `socket_address` of a configuration of Envoy."""
    if isinstance(part, dict):
        if "socket_address" in part:
            yield part["socket_address"]
        yield from (each for value in part.values() for each in addresses(value))
    elif isinstance(part, list):
        yield from (each for value in part for each in addresses(value))


def problems(picker: Picker, target: Target) -> Iterator[Problem]:
    """Settings with which it would not run."""
    yield from count_problems("picker.replicas", picker.replicas, 1, 10)
    yield from served_problems(target, "the endpoint picker", EndpointPicker)
