"""What a cluster knows and says: its secrets, its logs, and that it is not lost by accident."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.access import texts, unknowns
from policies.levels import Levels
from policies.resource import Resource
from policies.rule import Check, Context, ResourceRule, Setting, Violation, violation
from policies.tokens import CLUSTER, LOG_GROUP

LOG_TYPES: Final = ("api", "audit", "authenticator", "controllerManager", "scheduler")
"""All that EKS has (eks:CreateCluster, LogType; botocore 1.44.5)."""


def _no_key(cluster: Resource, _: Context) -> Iterator[Violation]:
    key = cluster["encryptionConfig"].at("provider", "keyArn")
    if key.missing:
        yield violation(key)


def _not_secrets(cluster: Resource, _: Context) -> Iterator[Violation]:
    resources = cluster["encryptionConfig"]["resources"]
    entries = resources.items()
    if not resources.unknown and not any(entry.unknown or entry.raw == "secrets" for entry in entries):
        yield violation(resources)


SECRETS_CMK = ResourceRule(
    name="eks-secrets-cmk",
    title="Secrets of the cluster are encrypted with a key of its own",
    types=(CLUSTER,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Whoever reads a backup of etcd reads every secret in it, and nobody can take the key away.",
    fix="Give the cluster encryptionConfig with a KMS key and resources: [secrets].",
    checks={
        "key": Check(
            asks="must be the ARN of a KMS key",
            find=_no_key,
            external_ids=("CKV_AWS_58", "AVD-AWS-0039", "CIS-5.3.1"),
        ),
        "resources": Check(
            asks="must contain 'secrets'",
            find=_not_secrets,
        ),
    },
)


def _silent(cluster: Resource, _: Context) -> Iterator[Violation]:
    types = cluster["enabledClusterLogTypes"]
    entries = types.items()
    missing = [name for name in LOG_TYPES if name not in texts(entries)]
    if not types.unknown and len(missing) > unknowns(entries):
        yield violation(types, f"without {', '.join(missing)}")


CONTROL_PLANE_LOGS = ResourceRule(
    name="eks-control-plane-logs",
    title="The control plane logs everything it can",
    types=(CLUSTER,),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="Without the audit log nobody can tell afterwards who did what.",
    fix=f"Set enabledClusterLogTypes to {', '.join(LOG_TYPES)}.",
    checks={
        "types": Check(
            asks="must hold all five types of logs",
            find=_silent,
            external_ids=("CKV_AWS_37", "AVD-AWS-0038", "CIS-2.1.1"),
        )
    },
)


def _forgetful(group: Resource, context: Context) -> Iterator[Violation]:
    """0 is CloudWatch's word for never forgetting."""
    days = group["retentionInDays"].number()
    short = days is not None and 0 < days < context.settings["minimumDays"]
    if short or group["retentionInDays"].missing:
        yield violation(group["retentionInDays"])


def _hoarding(group: Resource, context: Context) -> Iterator[Violation]:
    days = group["retentionInDays"].number()
    if days is not None and (days == 0 or days > context.settings["maximumDays"]):
        yield violation(group["retentionInDays"])


def _unencrypted(group: Resource, _: Context) -> Iterator[Violation]:
    if group["kmsKeyId"].missing:
        yield violation(group["kmsKeyId"])


LOG_GROUPS = ResourceRule(
    name="log-group-retention-cmk",
    title="Logs are kept long enough and no longer, under a key of their own",
    types=(LOG_GROUP,),
    severity=Severity.MEDIUM,
    levels=Levels("A/A/M"),
    why="A year is what an investigation needs, and CloudWatch keeps and bills for ever unless told otherwise.",
    fix="Set cluster.logRetentionDays or network.flowLogs.retentionDays; the components bring the key.",
    settings={
        "minimumDays": Setting(
            asks="days that logs are kept at least",
            schema={"type": "integer", "minimum": 1},
            values={"dev": 7, "staging": 30, "prod": 365},
        ),
        "maximumDays": Setting(
            asks="days that logs are kept at most",
            schema={"type": "integer", "minimum": 1},
            values={"dev": 90, "staging": 365, "prod": 3653},
        ),
    },
    checks={
        "minimum": Check(
            asks="must be at least the environment's minimum",
            find=_forgetful,
            external_ids=("CKV_AWS_66", "CKV_AWS_338", "CIS-2.1.2"),
        ),
        "maximum": Check(
            asks="must be at most the environment's maximum",
            find=_hoarding,
        ),
        "key": Check(
            asks="must be a KMS key",
            find=_unencrypted,
            external_ids=("CKV_AWS_158", "AVD-AWS-0017"),
        ),
    },
)


def _deletable(cluster: Resource, _: Context) -> Iterator[Violation]:
    if cluster["deletionProtection"].is_false(default=False):
        yield violation(cluster["deletionProtection"])


def _unprotected(cluster: Resource, _: Context) -> Iterator[Violation]:
    if not cluster.protect:
        yield Violation(path="protect", got="off")


DELETION_PROTECTION = ResourceRule(
    name="eks-deletion-protection",
    title="Neither AWS nor the engine deletes the cluster by accident",
    types=(CLUSTER,),
    severity=Severity.HIGH,
    levels=Levels("-/A/M"),
    why="A changed immutable field, or `destroy` in the wrong terminal, takes every workload with it.",
    fix="Set cluster.deletionProtection: true and environment.protect: true.",
    checks={
        "aws": Check(
            asks="must be true",
            find=_deletable,
        ),
        "engine": Check(
            asks="must be on",
            find=_unprotected,
        ),
    },
)

RULES = (SECRETS_CMK, CONTROL_PLANE_LOGS, LOG_GROUPS, DELETION_PROTECTION)
