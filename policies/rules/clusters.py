"""EKS clusters: encryption, logs, deletion protection, and Kubernetes versions."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Final

from policies.checks.questions import is_in, present, true
from policies.resources.access import texts, unknowns
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import ADDON, CLUSTER, LOG_GROUP, NODE_GROUP
from policies.rule import Context, ResourceRule, StackRule, Violation, setting, violation
from spec.catalog import kubernetes

LOG_TYPES: Final = ("api", "audit", "authenticator", "controllerManager", "scheduler")
"""All log types of EKS (eks:CreateCluster, LogType; botocore 1.44.5)."""


def _not_secrets(cluster: Resource, _: Context) -> Iterator[Violation]:
    resources = cluster["encryptionConfig"]["resources"]
    entries = resources.items()
    if not resources.unknown and not any(entry.unknown or entry.raw == "secrets" for entry in entries):
        yield violation(resources)


SECRETS_CMK = ResourceRule(
    name="eks-secrets-cmk",
    types=(CLUSTER,),
    finds={
        "key": present("encryptionConfig.provider.keyArn"),
        "resources": _not_secrets,
    },
)


def _missing_log_types(cluster: Resource, _: Context) -> Iterator[Violation]:
    types = cluster["enabledClusterLogTypes"]
    entries = types.items()
    missing = [name for name in LOG_TYPES if name not in texts(entries)]
    if not types.unknown and len(missing) > unknowns(entries):
        yield violation(types, f"without {', '.join(missing)}")


CONTROL_PLANE_LOGS = ResourceRule(
    name="eks-control-plane-logs",
    types=(CLUSTER,),
    finds={"types": _missing_log_types},
)


def _kept_too_briefly(group: Resource, context: Context) -> Iterator[Violation]:
    """In CloudWatch, a retention of 0 keeps logs forever."""
    days = group["retentionInDays"].number()
    short = days is not None and 0 < days < context.settings["minimumDays"]
    if short or group["retentionInDays"].missing:
        yield violation(group["retentionInDays"])


def _kept_too_long(group: Resource, context: Context) -> Iterator[Violation]:
    days = group["retentionInDays"].number()
    if days is not None and (days == 0 or days > context.settings["maximumDays"]):
        yield violation(group["retentionInDays"])


LOG_GROUPS = ResourceRule(
    name="log-group-retention-cmk",
    types=(LOG_GROUP,),
    settings={
        "minimumDays": setting("minimum retention of logs, in days", 7, 30, 365, minimum=1),
        "maximumDays": setting("maximum retention of logs, in days", 90, 365, 3653, minimum=1),
    },
    finds={
        "minimum": _kept_too_briefly,
        "maximum": _kept_too_long,
        "key": present("kmsKeyId"),
    },
)


def _unprotected(cluster: Resource, _: Context) -> Iterator[Violation]:
    if not cluster.protect:
        yield Violation(path="protect", got="off")


DELETION_PROTECTION = ResourceRule(
    name="eks-deletion-protection",
    types=(CLUSTER,),
    finds={"aws": true("deletionProtection"), "engine": _unprotected},
)


def _not_known(cluster: Resource, context: Context) -> Iterator[Violation]:
    version = cluster["version"].text()
    if version is not None and kubernetes.support(version, context.today) == "unknown":
        yield violation(cluster["version"])


def _ends_within(days: str) -> Callable[[Resource, Context], Iterator[Violation]]:
    """Standard support ends within the days of a setting."""

    def find(cluster: Resource, context: Context) -> Iterator[Violation]:
        version = cluster["version"].text()
        known = kubernetes.VERSIONS.get(version) if version else None
        if known and context.today + timedelta(days=int(context.settings[days])) >= known.standard_until:
            yield violation(cluster["version"], f"{known.name}, whose standard support ends on {known.standard_until}")

    return find


SUPPORTED_VERSION = ResourceRule(
    name="eks-supported-version",
    types=(CLUSTER,),
    settings={"daysLeft": setting("minimum days of standard support that are left", 0, 14, 30, minimum=0)},
    finds={
        "set": present("version"),
        "known": _not_known,
        "support": _ends_within("daysLeft"),
    },
)

UPGRADE_DUE = ResourceRule(
    name="eks-upgrade-due",
    types=(CLUSTER,),
    settings={
        "warnDays": setting("days before the end of standard support at which to warn", kubernetes.WARN_DAYS, minimum=0)
    },
    finds={"support": _ends_within("warnDays")},
)


STANDARD_SUPPORT = ResourceRule(
    name="eks-standard-support",
    types=(CLUSTER,),
    # The default of EKS is EXTENDED (eks:CreateCluster, upgradePolicy).
    finds={"policy": is_in("upgradePolicy.supportType", "STANDARD")},
)


def _planes(stack: Stack, context: Context) -> list[str]:
    made = [str(cluster["version"].raw) for cluster in stack.of(CLUSTER) if cluster["version"].known]
    return [*made, *(context.existing or ())[1:]]


def _node_version(stack: Stack, context: Context) -> Iterator[Violation]:
    for plane in _planes(stack, context):
        for group in stack.of(NODE_GROUP):
            version = group["version"].text()
            behind = kubernetes.skew(version, plane) if version else 0
            if behind is None or not 0 <= behind <= kubernetes.SKEW:
                yield violation(group["version"], f"{version}, while the control plane runs {plane}", group)


def _proxy_version(stack: Stack, context: Context) -> Iterator[Violation]:
    """kube-proxy is the add-on whose version is Kubernetes' own: `v1.35.3-eksbuild.29`."""
    for plane in _planes(stack, context):
        for addon in stack.of(ADDON):
            version = addon["addonVersion"].text()
            if addon["addonName"].raw != "kube-proxy" or version is None:
                continue
            minor = ".".join(version.removeprefix("v").split(".")[:2])
            behind = kubernetes.skew(minor, plane)
            if behind is None or not 0 <= behind <= kubernetes.SKEW:
                yield violation(addon["addonVersion"], f"{version}, while the control plane runs {plane}", addon)


VERSION_SKEW = StackRule(
    name="eks-version-skew",
    types=(CLUSTER, NODE_GROUP, ADDON),
    finds={
        "nodes": _node_version,
        "proxy": _proxy_version,
    },
)
