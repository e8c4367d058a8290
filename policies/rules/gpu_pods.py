"""GPU requests of pods, and pools that can satisfy them."""

from collections.abc import Iterator

from policies.checks.pods import Pod, of_container, of_pod, pods
from policies.checks.pools import facts, names
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import KARPENTER_POOL, MANAGED_POOL, WORKLOADS
from policies.rule import Context, ResourceRule, StackRule, Violation, violation
from spec.jobs import claimed_by
from spec.pools.keys import NVIDIA, POOL


def _devices(container: Node, section: str) -> dict[str, Node]:
    fields = container["resources"][section].fields()
    return {key: node for key, node in fields.items() if key.startswith(NVIDIA)}


def _unequal(_: Pod, container: Node) -> Node | None:
    limits = container["resources"]["limits"]
    for key, asked in _devices(container, "requests").items():
        if asked.known and not limits[key].unknown and asked.number() != limits[key].number():
            return asked
    return None


def _fractional(_: Pod, container: Node) -> Node | None:
    for node in _devices(container, "limits").values():
        if node.known and not str(node.raw).removesuffix(".0").isdigit():
            return node
    return None


def _sidecar(pod: Pod) -> Node | None:
    """The first container does the work; the others are sidecars."""
    others = [next(iter(_devices(one, "limits").values()), None) for one in pod.main[1:]]
    return next((node for node in others if node is not None), None)


REQUEST_EQUALS_LIMIT = ResourceRule(
    name="gpu-request-equals-limit",
    types=WORKLOADS,
    finds={
        "equal": of_container(_unequal),
        "whole": of_container(_fractional),
        "one": of_pod(_sidecar),
    },
)


def _wanted(stack: Stack) -> Iterator[tuple[Resource, Pod]]:
    for resource in stack.of(*WORKLOADS):
        for pod in pods(resource):
            yield resource, pod


def _unknown_pool(stack: Stack, _: Context) -> Iterator[Violation]:
    pools = names(stack)
    for resource, pod in _wanted(stack):
        label = pod.spec["nodeSelector"][POOL]
        there = any(name.unknown or name.raw == label.raw for name in pools)
        if label.known and pools and not there:
            yield violation(label, at=resource)


def _too_many(stack: Stack, _: Context) -> Iterator[Violation]:
    pools = {str(pool["name"].raw): pool for _, pool in facts(stack)}
    for resource, pod in _wanted(stack):
        pool = pools.get(pod.spec["nodeSelector"][POOL].text() or "")
        for container in pod.containers if pool is not None else ():
            for key, node in _devices(container, "limits").items():
                there = pool["resources"][key]  # type: ignore[index]
                if node.known and not there.unknown and (node.number() or 0) > (there.number() or 0):
                    yield violation(node, f"{node.shown}, while a node of the pool has {there.shown}", resource)


def _unclaimable(stack: Stack, _: Context) -> Iterator[Violation]:
    pools = {str(pool["name"].raw): pool for _, pool in facts(stack)}
    for resource, pod in _wanted(stack):
        claims, pool = pod.spec["resourceClaims"], pools.get(pod.spec["nodeSelector"][POOL].text() or "")
        number = sum(claimed_by(one["resourceClaimTemplateName"].text() or "") for one in claims.items() if one.known)
        there = None if pool is None else pool["draGpuCount"]
        if number and there is not None and not there.unknown and number > (there.number() or 0):
            yield violation(claims, f"{number} GPUs, while a node of the pool gives {there.shown} by claims", resource)


SCHEDULABLE = StackRule(
    name="gpu-pod-schedulable",
    types=(*WORKLOADS, MANAGED_POOL, KARPENTER_POOL),
    finds={
        "pool": _unknown_pool,
        "devices": _too_many,
        "claims": _unclaimable,
    },
)
