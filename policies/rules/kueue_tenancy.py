"""Kueue tenancy: queues per team, and all-or-nothing starts of multi-node jobs."""

from __future__ import annotations

from collections.abc import Iterator

import yaml
from pulumi_policy import Severity

from policies.checks.charts import releases_of
from policies.levels import Levels
from policies.resources.access import Node, WrongTypeError, plain
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import CLUSTER_QUEUE, LOCAL_QUEUE, NAMESPACE, RELEASE
from policies.rule import Check, Context, StackRule, Violation, violation
from spec.teams.labels import TEAM


def _every_namespace(stack: Stack, _: Context) -> Iterator[Violation]:
    for queue in stack.of(CLUSTER_QUEUE):
        selector = queue["spec"]["namespaceSelector"]
        if selector.known and not selector.fields():
            yield violation(selector, "for every namespace", queue)


def _without_queue(stack: Stack, _: Context) -> Iterator[Violation]:
    namespaces = [queue["metadata"]["namespace"] for queue in stack.of(LOCAL_QUEUE)]
    for space in stack.of(NAMESPACE) if stack.of(CLUSTER_QUEUE) else ():
        name = space["metadata"]["name"].text()
        queued = any(namespace.unknown or namespace.raw == name for namespace in namespaces)
        if space["metadata"]["labels"][TEAM].known and name and not queued:
            yield Violation(path="", got="without one", at=space)


def _unknown_target(stack: Stack, _: Context) -> Iterator[Violation]:
    names = [queue["metadata"]["name"] for queue in stack.of(CLUSTER_QUEUE)]
    for local in stack.of(LOCAL_QUEUE):
        target = local["spec"]["clusterQueue"]
        if target.known and not any(name.unknown or name.raw == target.raw for name in names):
            yield violation(target, at=local)


TENANT_ISOLATION = StackRule(
    name="kueue-tenant-isolation",
    title="A team's ClusterQueue admits only namespaces of the team, and each has a LocalQueue",
    types=(CLUSTER_QUEUE, LOCAL_QUEUE, NAMESPACE),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="A ClusterQueue for every namespace lets all teams use the quota of one.",
    fix="Select the team's label in namespaceSelector, and declare a LocalQueue in each of its namespaces.",
    checks={
        "selector": Check(
            asks="must select the team's namespaces",
            find=_every_namespace,
        ),
        "local": Check(
            asks="must have a LocalQueue",
            find=_without_queue,
        ),
        "target": Check(
            asks="must be a ClusterQueue of the stack",
            find=_unknown_target,
        ),
    },
)


def _configuration(release: Resource) -> Node:
    """Kueue's configuration, which its chart takes as a string of YAML."""
    node = release["values"].at("managerConfig", "controllerManagerConfigYaml")
    if not isinstance(node.raw, str):
        return node
    try:
        return Node(node.path, plain(yaml.safe_load(node.raw)))
    except yaml.YAMLError as error:
        raise WrongTypeError(node, "YAML") from error


def _kueue_releases(stack: Stack) -> list[Resource]:
    return releases_of(stack, "kueue")


def _without_wait(stack: Stack, _: Context) -> Iterator[Violation]:
    for release in _kueue_releases(stack):
        wait = _configuration(release)["waitForPodsReady"]
        for node in (wait["timeout"], wait["requeuingStrategy"]["backoffLimitCount"]):
            if node.missing:
                yield violation(node, at=release)


GANG_SAFE = StackRule(
    name="kueue-gang-safe",
    title="Multi-node jobs start all their pods, or release their quota",
    types=(RELEASE,),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="Two partly started jobs can wait for each other's GPUs forever (kubernetes-sigs/kueue#2796).",
    fix="Set waitForPodsReady of Kueue's configuration with a timeout and a backoffLimitCount.",
    checks={
        "wait": Check(
            asks="must be set",
            find=_without_wait,
        )
    },
)

RULES = (TENANT_ISOLATION, GANG_SAFE)
