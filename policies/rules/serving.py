"""Serving: disruption budgets, replicas, probes, autoscaling limits and KServe models."""

from collections.abc import Iterator
from typing import Any, Final

from policies.checks.images import OWN, place
from policies.checks.pods import Pod, of_pod, pods
from policies.checks.questions import at_least, at_most, not_in, present
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import (
    DEPLOYMENT,
    INFERENCE_GRAPH,
    INFERENCE_SERVICE,
    LONG_RUNNING,
    POD,
    POD_AUTOSCALER,
    POD_DISRUPTION_BUDGET,
    SCALED_OBJECT,
    STATEFUL_SET,
)
from policies.rule import Context, ResourceRule, StackRule, Violation, setting, violation

_SERVERS: Final = (DEPLOYMENT, STATEFUL_SET)


def _labels(resource: Resource) -> Node:
    return resource["spec"].at("template", "metadata", "labels")


def _agree(first: Node, other: Node) -> bool:
    """Whether two values are, or may be, the same."""
    return first.unknown or other.unknown or first.raw == other.raw


def _covers(budget: Resource, server: Resource) -> bool:
    wanted, labels = budget["spec"]["selector"]["matchLabels"].fields(), _labels(server)
    namespaces = budget["metadata"]["namespace"], server["metadata"]["namespace"]
    return _agree(*namespaces) and all(_agree(labels[key], node) for key, node in wanted.items())


def _uncovered(stack: Stack, _: Context) -> Iterator[Violation]:
    budgets = stack.of(POD_DISRUPTION_BUDGET)
    for server in stack.of(*_SERVERS):
        replicas = server["spec"]["replicas"].number()
        if replicas is not None and replicas > 1 and not any(_covers(budget, server) for budget in budgets):
            yield Violation(path="", got="without one", at=server)


def _blocking(stack: Stack, _: Context) -> Iterator[Violation]:
    for budget in stack.of(POD_DISRUPTION_BUDGET):
        maximum = budget["spec"]["maxUnavailable"]
        if maximum.raw in (0, "0", "0%") or budget["spec"]["minAvailable"].raw == "100%":
            yield violation(maximum, at=budget)


SERVING_PDB = StackRule(
    name="serving-pdb",
    types=(*_SERVERS, POD_DISRUPTION_BUDGET),
    finds={
        "budget": _uncovered,
        "blocking": _blocking,
    },
)


def _serves(container: Node) -> bool:
    """Whether a container serves requests: it declares a port that Prometheus isn't alone to ask."""
    return not all(str(port["name"].raw).endswith("metrics") for port in container["ports"].items())


def _served(resource: Resource) -> bool:
    """Whether the pods of a Deployment serve requests."""
    return any(_serves(container) for pod in pods(resource) for container in pod.main)


def _single(server: Resource, context: Context) -> Iterator[Violation]:
    replicas = server["spec"]["replicas"]
    number = 1 if replicas.missing else replicas.number()
    if _served(server) and number is not None and 0 < number < context.settings["replicas"]:
        yield violation(replicas)


def _not_spread(server: Resource, context: Context) -> Iterator[Violation]:
    for pod in pods(server) if _served(server) and context.settings["replicas"] > 1 else ():
        spread = pod.spec["topologySpreadConstraints"]
        if spread.missing and pod.spec["affinity"]["podAntiAffinity"].missing:
            yield violation(spread)


SERVING_HA = ResourceRule(
    name="serving-ha",
    types=(DEPLOYMENT,),
    settings={"replicas": setting("minimum replicas of a server", 1, 2, 2, minimum=1)},
    finds={
        "replicas": _single,
        "spread": _not_spread,
    },
)


def _probe(key: str) -> Any:
    def missing(pod: Pod) -> Node | None:
        return next((one[key] for one in pod.main if _serves(one) and one[key].missing), None)

    return of_pod(missing)


SERVING_PROBES = ResourceRule(
    name="serving-probes",
    types=(*LONG_RUNNING, POD),
    finds={
        "ready": _probe("readinessProbe"),
        "alive": _probe("livenessProbe"),
    },
)


_PREDICTOR: Final = "spec.predictor"

SCALE_BOUNDS = ResourceRule(
    name="serving-scale-bounds",
    types=(INFERENCE_SERVICE,),
    settings={"minimum": setting("minimum replicas of an idle model", 0, 0, 1, minimum=0)},
    finds={
        "maximum": present(f"{_PREDICTOR}.maxReplicas"),
        "minimum": at_least(f"{_PREDICTOR}.minReplicas", "minimum", default=1),
    },
)


def _maximum(scaler: Resource) -> Node:
    return scaler["spec"]["maxReplicaCount" if scaler.type == SCALED_OBJECT else "maxReplicas"]


AUTOSCALERS_BOUNDED = ResourceRule(
    name="autoscalers-bounded",
    types=(POD_AUTOSCALER, SCALED_OBJECT, INFERENCE_GRAPH),
    settings={"highest": setting("the highest maximum of replicas", 1000, minimum=1)},
    # A ScaledObject without a maximum has 100 (KEDA 2.20, "ScaledObject specification").
    finds={"maximum": at_most(_maximum, "highest")},
)


def _elsewhere(service: Resource, context: Context) -> Iterator[Violation]:
    model = service["spec"]["predictor"]["model"]["storageUri"]
    scheme, _, rest = (model.text() or "").partition("://")
    foreign = scheme.startswith("oci") and place(rest, context.account) != OWN
    if model.known and (scheme not in context.settings["models"] or foreign):
        yield violation(model)


KSERVE_HARDENED = ResourceRule(
    name="kserve-hardened",
    types=(INFERENCE_SERVICE,),
    settings={"models": setting("schemes of allowed model locations", ["s3", "pvc", "oci+native"])},
    finds={
        "place": _elsewhere,
        "account": not_in(f"{_PREDICTOR}.serviceAccountName", "default", default="default"),
    },
)
