"""Kubernetes versions: standard support, version skew and extended support."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

from pulumi_policy import Severity

from policies.levels import Levels
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import ADDON, CLUSTER, NODE_GROUP
from policies.rule import Check, Context, ResourceRule, Setting, StackRule, Violation, everywhere, violation
from spec.catalog import kubernetes

MAXIMUM_SKEW: Final = 3
"""Minor versions that a kubelet may be older than its API server (kubernetes.io, "Version Skew Policy")."""
_SCHEMA: Final[dict[str, Any]] = {"type": "integer", "minimum": 0}


def _unset(cluster: Resource, _: Context) -> Iterator[Violation]:
    if cluster["version"].missing:
        yield violation(cluster["version"])


def _not_known(cluster: Resource, context: Context) -> Iterator[Violation]:
    version = cluster["version"].text()
    if version is not None and kubernetes.support(version, context.today) == "unknown":
        yield violation(cluster["version"])


def _ends_within(cluster: Resource, context: Context, days: int) -> Iterator[Violation]:
    version = cluster["version"].text()
    known = kubernetes.VERSIONS.get(version) if version else None
    if known and context.today + timedelta(days=days) >= known.standard_until:
        yield violation(cluster["version"], f"{known.name}, whose standard support ends on {known.standard_until}")


def _ending(cluster: Resource, context: Context) -> Iterator[Violation]:
    yield from _ends_within(cluster, context, int(context.settings["daysLeft"]))


def _due(cluster: Resource, context: Context) -> Iterator[Violation]:
    yield from _ends_within(cluster, context, int(context.settings["warnDays"]))


SUPPORTED_VERSION = ResourceRule(
    name="eks-supported-version",
    title="The Kubernetes version is in standard support, with enough days left",
    types=(CLUSTER,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="After standard support, patches cost a surcharge; an unset version can change without a decision.",
    fix="Set cluster.version to a later version from spec/catalog/data/kubernetes.yaml.",
    settings={
        "daysLeft": Setting(
            asks="minimum days of standard support that are left",
            schema=_SCHEMA,
            values={"dev": 0, "staging": 14, "prod": 30},
        )
    },
    checks={
        "set": Check(
            asks="must be set",
            find=_unset,
        ),
        "known": Check(
            asks="must be a version that EKS has released",
            find=_not_known,
            external_ids=("CKV_AWS_339",),
        ),
        "support": Check(
            asks="must have enough days of standard support left",
            find=_ending,
            external_ids=("CKV_AWS_339",),
        ),
    },
)

UPGRADE_DUE = ResourceRule(
    name="eks-upgrade-due",
    title="An upgrade is planned before standard support ends",
    types=(CLUSTER,),
    severity=Severity.LOW,
    levels=Levels("A/A/A"),
    why="An upgrade takes weeks across three environments, and AWS announces the end of support 60 days ahead.",
    fix="Rehearse the next version: set cluster.version in dev and run `slipway up dev --sandbox`.",
    settings={
        "warnDays": Setting(
            asks="days before the end of standard support at which to warn",
            schema=_SCHEMA,
            values=everywhere(kubernetes.WARN_DAYS),
        )
    },
    checks={
        "support": Check(
            asks="should be upgraded in time",
            find=_due,
        )
    },
)


def _extended(cluster: Resource, _: Context) -> Iterator[Violation]:
    """The default of EKS is EXTENDED (eks:CreateCluster, upgradePolicy)."""
    support = cluster["upgradePolicy"]["supportType"]
    if support.is_not("STANDARD"):
        yield violation(support)


STANDARD_SUPPORT = ResourceRule(
    name="eks-standard-support",
    title="The cluster does not enter paid extended support",
    types=(CLUSTER,),
    severity=Severity.LOW,
    levels=Levels("A/A/A"),
    why="Extended support costs 0.60 USD an hour, six times the price of the control plane (EKS pricing, 2026).",
    fix="Set cluster.supportType: standard.",
    checks={
        "policy": Check(
            asks="must be 'STANDARD'",
            find=_extended,
        )
    },
)


def _planes(stack: Stack) -> list[Node]:
    return [cluster["version"] for cluster in stack.of(CLUSTER) if cluster["version"].known]


def _node_version(stack: Stack, _: Context) -> Iterator[Violation]:
    for plane in _planes(stack):
        for group in stack.of(NODE_GROUP):
            version = group["version"].text()
            behind = kubernetes.skew(version, str(plane.raw)) if version else 0
            if behind is None or not 0 <= behind <= MAXIMUM_SKEW:
                yield violation(group["version"], f"{version}, while the control plane runs {plane.raw}", group)


def _proxy_version(stack: Stack, _: Context) -> Iterator[Violation]:
    """kube-proxy is the add-on whose version is Kubernetes' own: `v1.35.3-eksbuild.29`."""
    for plane in _planes(stack):
        for addon in stack.of(ADDON):
            version = addon["addonVersion"].text()
            if addon["addonName"].raw != "kube-proxy" or version is None:
                continue
            minor = ".".join(version.removeprefix("v").split(".")[:2])
            behind = kubernetes.skew(minor, str(plane.raw))
            if behind is None or not 0 <= behind <= MAXIMUM_SKEW:
                yield violation(addon["addonVersion"], f"{version}, while the control plane runs {plane.raw}", addon)


VERSION_SKEW = StackRule(
    name="eks-version-skew",
    title="Nodes and kube-proxy are at most three minor versions older than the control plane, and never newer",
    types=(CLUSTER, NODE_GROUP, ADDON),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Outside this range, nodes can't register (kubernetes.io, Version Skew Policy).",
    fix="Upgrade the control plane first, then pools (`version` of a pool), then add-ons.",
    checks={
        "nodes": Check(
            asks="must be the control plane's version, or at most three minor versions older",
            find=_node_version,
        ),
        "proxy": Check(
            asks="must be the control plane's version, or at most three minor versions older",
            find=_proxy_version,
        ),
    },
)

RULES = (SUPPORTED_VERSION, UPGRADE_DUE, STANDARD_SUPPORT, VERSION_SKEW)
