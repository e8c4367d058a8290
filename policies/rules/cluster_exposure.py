"""Objects that open the cluster to networks, or give some workloads precedence over all others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.levels import Levels
from policies.resources.resource import Resource
from policies.resources.tokens import (
    GATEWAY_BALANCER,
    INGRESS,
    INGRESS_PARAMS,
    PRIORITY_CLASS,
    SERVICE,
    STORAGE_CLASS,
)
from policies.rule import Check, Context, ResourceRule, Setting, Violation, everywhere, violation

_SCHEMES: Final = (
    "service.beta.kubernetes.io/aws-load-balancer-scheme",
    "alb.ingress.kubernetes.io/scheme",
)
_NOT_INTERNAL: Final = "service.beta.kubernetes.io/aws-load-balancer-internal"
_PUBLIC: Final = "internet-facing"
_BLOCK: Final = "ebs.csi.aws.com"


def _internet_facing(one: Resource, _: Context) -> Iterator[Violation]:
    annotations = one["metadata"]["annotations"]
    for node in (*(annotations[key] for key in _SCHEMES), one["spec"]["scheme"]):
        if node.raw == _PUBLIC:
            yield violation(node)
    if annotations[_NOT_INTERNAL].raw == "false":
        yield violation(annotations[_NOT_INTERNAL])


def _external(service: Resource, _: Context) -> Iterator[Violation]:
    if service.type == SERVICE and (addresses := service["spec"]["externalIPs"]).items():
        yield violation(addresses)


INTERNAL_ONLY = ResourceRule(
    name="exposure-internal",
    title="Load balancers of the cluster are internal, and Services take no external addresses",
    types=(SERVICE, INGRESS, INGRESS_PARAMS, GATEWAY_BALANCER),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="Dashboards and models have no login of their own towards the internet. A Service with an external address "
    "takes traffic of all nodes to it (CVE-2020-8554).",
    fix="Use the scheme internal. For a public model, suppress the finding with the reason.",
    checks={
        "scheme": Check(asks="must be internal", find=_internet_facing),
        "addresses": Check(asks="must be empty", find=_external),
    },
    program_only=True,
)


def _default_class(one: Resource, _: Context) -> Iterator[Violation]:
    if one["globalDefault"].is_true():
        yield violation(one["globalDefault"])


def _too_high(one: Resource, context: Context) -> Iterator[Violation]:
    value = one["value"].number()
    if value is not None and value > context.settings["highest"]:
        yield violation(one["value"])


PRIORITIES_BOUNDED = ResourceRule(
    name="priorities-bounded",
    title="Priority classes are for named workloads, below those of the cluster's own software",
    types=(PRIORITY_CLASS,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Pods of a higher class evict the others; a default class gives that to every pod without one.",
    fix="Use the four classes of components/tenancy/priorities.py.",
    settings={
        "highest": Setting(
            asks="the highest value of a class", schema={"type": "integer", "minimum": 0}, values=everywhere(10000)
        )
    },
    checks={
        "default": Check(asks="must be false", find=_default_class),
        "value": Check(asks="must not be higher than the setting", find=_too_high),
    },
    program_only=True,
)


def _plain_volumes(one: Resource, _: Context) -> Iterator[Violation]:
    """The driver does not encrypt by default (kubernetes-sigs/aws-ebs-csi-driver, docs/parameters.md; read 2026-11)."""
    encrypted = one["parameters"]["encrypted"]
    if one["provisioner"].raw == _BLOCK and not encrypted.unknown and str(encrypted.raw).lower() != "true":
        yield violation(encrypted)


VOLUMES_ENCRYPTED = ResourceRule(
    name="storage-class-encrypted",
    title="Volumes of EBS are encrypted",
    types=(STORAGE_CLASS,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Snapshots and disks of plain volumes can be read by whoever gets them.",
    fix='Set the parameters encrypted: "true" and kmsKeyId of the class.',
    checks={"encrypted": Check(asks="must be true", find=_plain_volumes)},
    program_only=True,
)

RULES = (INTERNAL_ONLY, PRIORITIES_BOUNDED, VOLUMES_ENCRYPTED)
