"""What answers users: always there, found alive, bounded, and by nobody else's credentials."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, Final

from pulumi_policy import Severity

from policies.access import Node
from policies.levels import Levels
from policies.pods import Pod, of_pod, pods
from policies.resource import Resource, Stack
from policies.rule import Check, Context, ResourceRule, Setting, StackRule, Violation, everywhere, violation
from policies.tokens import BUDGET_OF_PODS, DEPLOYMENT, INFERENCE_SERVICE, STATEFUL_SET

_SERVERS: Final = (DEPLOYMENT, STATEFUL_SET)


def _labels(resource: Resource) -> Node:
    return resource["spec"].at("template", "metadata", "labels")


def _agree(one_: Node, other: Node) -> bool:
    """Whether two values are, or may be, the same."""
    return one_.unknown or other.unknown or one_.raw == other.raw


def _covers(budget: Resource, server: Resource) -> bool:
    wanted, labels = budget["spec"]["selector"]["matchLabels"].fields(), _labels(server)
    homes = budget["metadata"]["namespace"], server["metadata"]["namespace"]
    return _agree(*homes) and all(_agree(labels[key], node) for key, node in wanted.items())


def _uncovered(stack: Stack, _: Context) -> Iterator[Violation]:
    budgets = stack.of(BUDGET_OF_PODS)
    for server in stack.of(*_SERVERS):
        replicas = server["spec"]["replicas"].number()
        if replicas is not None and replicas > 1 and not any(_covers(budget, server) for budget in budgets):
            yield Violation(path="", got="without one", at=server)


def _blocking(stack: Stack, _: Context) -> Iterator[Violation]:
    for budget in stack.of(BUDGET_OF_PODS):
        maximum = budget["spec"]["maxUnavailable"]
        if maximum.raw in (0, "0", "0%") or budget["spec"]["minAvailable"].raw == "100%":
            yield violation(maximum, at=budget)


SERVING_PDB = StackRule(
    name="serving-pdb",
    title="What has several replicas keeps some of them while nodes are replaced",
    types=(*_SERVERS, BUDGET_OF_PODS),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="An upgrade drains nodes one after another, and without a budget both replicas at once; with one that permits "
    "nothing it never ends.",
    fix="Declare a PodDisruptionBudget with maxUnavailable 1 for its labels.",
    checks={
        "budget": Check(
            asks="must have a PodDisruptionBudget",
            find=_uncovered,
        ),
        "blocking": Check(
            asks="must permit one",
            find=_blocking,
        ),
    },
)


def _served(resource: Resource) -> bool:
    """A Deployment whose pods serve, by having a port."""
    return any(container["ports"].known for pod in pods(resource) for container in pod.main)


def _single(server: Resource, context: Context) -> Iterator[Violation]:
    replicas = server["spec"]["replicas"]
    number = 1 if replicas.missing else replicas.number()
    if _served(server) and number is not None and 0 < number < context.settings["replicas"]:
        yield violation(replicas)


def _together(server: Resource, context: Context) -> Iterator[Violation]:
    for pod in pods(server) if _served(server) and context.settings["replicas"] > 1 else ():
        spread = pod.spec["topologySpreadConstraints"]
        if spread.missing and pod.spec["affinity"]["podAntiAffinity"].missing:
            yield violation(spread)


SERVING_HA = ResourceRule(
    name="serving-ha",
    title="What serves in production stands on several nodes",
    types=(DEPLOYMENT,),
    severity=Severity.MEDIUM,
    levels=Levels("-/A/M"),
    why="One replica is an outage at every node that is replaced.",
    fix="Set two replicas or more, and topologySpreadConstraints over zones.",
    settings={
        "replicas": Setting(
            asks="replicas that a server must have",
            schema={"type": "integer", "minimum": 1},
            values={"dev": 1, "staging": 2, "prod": 2},
        )
    },
    checks={
        "replicas": Check(
            asks="must be enough",
            find=_single,
        ),
        "spread": Check(
            asks="must be set",
            find=_together,
        ),
    },
)


def _probe(key: str) -> Any:
    def missing(pod: Pod) -> Node | None:
        serving = [container for container in pod.main if container["ports"].known]
        return next((one[key] for one in serving if one[key].missing), None)

    return of_pod(missing)


SERVING_PROBES = ResourceRule(
    name="serving-probes",
    title="A server says when it is ready, and when it hangs",
    types=_SERVERS,
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="A model takes minutes to load; without a probe requests arrive before it.",
    fix="Give its container readinessProbe, livenessProbe, and startupProbe while a model loads.",
    checks={
        "ready": Check(
            asks="must be set",
            find=_probe("readinessProbe"),
            external_ids=("CKV_K8S_9",),
        ),
        "alive": Check(
            asks="must be set",
            find=_probe("livenessProbe"),
            external_ids=("CKV_K8S_8",),
        ),
    },
)


def _unbounded(service: Resource, _: Context) -> Iterator[Violation]:
    maximum = service["spec"]["predictor"]["maxReplicas"]
    if maximum.missing:
        yield violation(maximum)


def _cold(service: Resource, context: Context) -> Iterator[Violation]:
    minimum = service["spec"]["predictor"]["minReplicas"]
    number = 1 if minimum.missing else minimum.number()
    if number is not None and number < context.settings["minimum"]:
        yield violation(minimum)


def _foreign(service: Resource, context: Context) -> Iterator[Violation]:
    uri = service["spec"]["predictor"]["model"]["storageUri"]
    text = uri.text()
    if text is not None and not any(fnmatchcase(text, pattern) for pattern in context.settings["models"]):
        yield violation(uri)


def _anonymous(service: Resource, _: Context) -> Iterator[Violation]:
    account = service["spec"]["predictor"]["serviceAccountName"]
    if account.missing or account.raw == "default":
        yield violation(account)


SCALE_BOUNDS = ResourceRule(
    name="serving-scale-bounds",
    title="A model has an end to its replicas, and in production one that is warm",
    types=(INFERENCE_SERVICE,),
    severity=Severity.MEDIUM,
    levels=Levels("M/M/M"),
    why="An autoscaler without an end follows every flood of requests with GPUs.",
    fix="Set maxReplicas of the predictor, and minReplicas 1 in production.",
    settings={
        "minimum": Setting(
            asks="replicas that a model keeps while nobody asks",
            schema={"type": "integer", "minimum": 0},
            values={"dev": 0, "staging": 0, "prod": 1},
        )
    },
    checks={
        "maximum": Check(
            asks="must be set",
            find=_unbounded,
        ),
        "minimum": Check(
            asks="must be enough",
            find=_cold,
        ),
    },
)

KSERVE_HARDENED = ResourceRule(
    name="kserve-hardened",
    title="A model comes from a bucket of ours, and reads it as its team",
    types=(INFERENCE_SERVICE,),
    severity=Severity.HIGH,
    levels=Levels("A/M/M"),
    why="A model is code: what is loaded from anywhere runs with the rights of the pod (kserve/kserve#1982).",
    fix="Put the model into the team's place of the models bucket, and set serviceAccountName: workload.",
    settings={
        "models": Setting(
            asks="globs of places from which models may come",
            schema={"type": "array", "items": {"type": "string"}},
            values=everywhere(["s3://*", "pvc://*"]),
        )
    },
    checks={
        "place": Check(
            asks="must be a place of the setting",
            find=_foreign,
        ),
        "account": Check(
            asks="must be a service account of the team's",
            find=_anonymous,
        ),
    },
)

RULES = (SERVING_PDB, SERVING_HA, SERVING_PROBES, SCALE_BOUNDS, KSERVE_HARDENED)
