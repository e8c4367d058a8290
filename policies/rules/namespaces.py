"""Namespaces: Pod Security levels; quotas and default-deny network policies of teams."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, Final

from pulumi_policy import Severity

from policies.levels import Levels
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import LIMIT_RANGE, NAMESPACE, NETWORK_POLICY, RESOURCE_QUOTA
from policies.rule import Check, Context, ResourceRule, Setting, StackRule, Violation, everywhere, violation
from spec.teams.labels import TEAM

_LABEL: Final = "pod-security.kubernetes.io/"
"""Prefix of the labels of Pod Security admission."""
DNS: Final = 53
_LEVELS: Final = ("restricted", "baseline", "privileged")


def _unlabelled(space: Resource, _: Context) -> Iterator[Violation]:
    for mode in ("enforce", "warn"):
        level = space["metadata"]["labels"][f"{_LABEL}{mode}"]
        if level.is_not(*_LEVELS):
            yield violation(level)


def _privileged(space: Resource, context: Context) -> Iterator[Violation]:
    level, name = space["metadata"]["labels"][f"{_LABEL}enforce"], space["metadata"]["name"].text()
    allowed = any(fnmatchcase(name or "", pattern) for pattern in context.settings["privileged"])
    if level.raw == "privileged" and name is not None and not allowed:
        yield violation(level)


PSS_ENFORCED = ResourceRule(
    name="pss-enforced",
    title="Namespaces enforce a Pod Security level; only those of node software are privileged",
    types=(NAMESPACE,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="A namespace without a level admits any pod, including privileged ones.",
    fix="Set the labels pod-security.kubernetes.io/enforce and /warn of the namespace.",
    settings={
        "privileged": Setting(
            asks="globs of namespaces for node software, such as drivers, device plugins and node agents",
            schema={"type": "array", "items": {"type": "string"}},
            values=everywhere(["gpu-operator", "logging", "monitoring"]),
        )
    },
    checks={
        "level": Check(
            asks="must be a Pod Security level",
            find=_unlabelled,
            external_ids=("KSV-0117",),
        ),
        "privileged": Check(
            asks="must not be privileged",
            find=_privileged,
        ),
    },
)


def _teams(stack: Stack) -> list[tuple[Resource, str]]:
    """Namespaces of teams, with their names."""
    spaces = [(space, space["metadata"]["name"].text()) for space in stack.of(NAMESPACE)]
    return [(space, name) for space, name in spaces if name and space["metadata"]["labels"][TEAM].known]


def _inside(stack: Stack, token: str, name: str) -> list[Resource]:
    """Resources of a type that are, or may be, in a namespace."""
    resources = [(one, one["metadata"]["namespace"]) for one in stack.of(token)]
    return [one for one, namespace in resources if namespace.unknown or namespace.raw == name]


def _without(token: str, got: str) -> Any:
    def find(stack: Stack, _: Context) -> Iterator[Violation]:
        for space, name in _teams(stack):
            if not _inside(stack, token, name):
                yield Violation(path="", got=got, at=space)

    return find


def _no_gpus(stack: Stack, _: Context) -> Iterator[Violation]:
    for quota in stack.of(RESOURCE_QUOTA):
        hard = quota["spec"]["hard"]
        if not hard.unknown and not any(key.startswith("requests.nvidia.com/") for key in hard.fields()):
            yield violation(hard, "without requests.nvidia.com/gpu", quota)


NAMESPACE_QUOTA = StackRule(
    name="namespace-quota",
    title="Team namespaces have a quota that includes GPUs, and default requests",
    types=(NAMESPACE, RESOURCE_QUOTA, LIMIT_RANGE),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="One loop that creates pods can take the whole cluster (EKS Best Practices, multi-tenancy).",
    fix="Declare a ResourceQuota with requests.nvidia.com/gpu and a LimitRange in the namespace.",
    checks={
        "quota": Check(
            asks="must have a ResourceQuota",
            find=_without(RESOURCE_QUOTA, "without one"),
            external_ids=("KSV-0040",),
        ),
        "gpus": Check(
            asks="must limit GPUs",
            find=_no_gpus,
        ),
        "range": Check(
            asks="must have a LimitRange",
            find=_without(LIMIT_RANGE, "without one"),
            external_ids=("KSV-0039",),
        ),
    },
)


def _selects_all(policy: Resource) -> bool:
    """Whether it selects every pod of its namespace."""
    selector = policy["spec"]["podSelector"]
    return selector.unknown or selector.missing or not selector.fields()


def _denies(policy: Resource, way: str, rules: Node) -> bool:
    """Whether it denies, or may deny, all traffic in one direction."""
    types = policy["spec"]["policyTypes"]
    named = types.unknown or any(entry.unknown or entry.raw == way for entry in types.items())
    return _selects_all(policy) and named and (rules.unknown or rules.missing or rules.raw == [])


def _open(way: str, key: str) -> Any:
    def find(stack: Stack, _: Context) -> Iterator[Violation]:
        for space, name in _teams(stack):
            policies = _inside(stack, NETWORK_POLICY, name)
            if not any(_denies(policy, way, policy["spec"][key]) for policy in policies):
                yield Violation(path="", got=f"open: no policy denies {way} by default", at=space)

    return find


def _without_dns(stack: Stack, _: Context) -> Iterator[Violation]:
    for space, name in _teams(stack):
        ways = [policy["spec"]["egress"] for policy in _inside(stack, NETWORK_POLICY, name)]
        lists = [rule["ports"] for way in ways for rule in way.items()]
        ports = [port["port"] for one in lists for port in one.items()]
        if not any(node.unknown or node.raw == DNS for node in [*ways, *lists, *ports]):
            yield Violation(path="", got="without a policy that allows it", at=space)


DEFAULT_DENY = StackRule(
    name="netpol-default-deny",
    title="Team namespaces deny ingress and egress by default",
    types=(NAMESPACE, NETWORK_POLICY),
    severity=Severity.HIGH,
    levels=Levels("A/M/M"),
    why="Without a policy, every pod can reach every other, including unauthenticated endpoints of other teams.",
    fix="Declare a NetworkPolicy without rules for all pods and both directions, and one that allows egress to port "
    "53.",
    checks={
        "ingress": Check(
            asks="must deny ingress by default",
            find=_open("Ingress", "ingress"),
            external_ids=("CKV2_K8S_6", "KSV-0038", "CIS-4.3.2"),
        ),
        "egress": Check(
            asks="must deny egress by default",
            find=_open("Egress", "egress"),
        ),
        "dns": Check(
            asks="must allow egress to DNS",
            find=_without_dns,
        ),
    },
)

RULES = (PSS_ENFORCED, NAMESPACE_QUOTA, DEFAULT_DENY)
