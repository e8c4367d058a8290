"""Data of a cluster: encryption of secrets, logs and deletion protection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.levels import Levels
from policies.resources.access import texts, unknowns
from policies.resources.resource import Resource
from policies.resources.tokens import CLUSTER, LOG_GROUP
from policies.rule import Check, Context, ResourceRule, Setting, Violation, violation

LOG_TYPES: Final = ("api", "audit", "authenticator", "controllerManager", "scheduler")
"""All log types of EKS (eks:CreateCluster, LogType; botocore 1.44.5)."""


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
    title="Kubernetes Secrets are encrypted with a customer managed KMS key",
    types=(CLUSTER,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Otherwise a backup of etcd exposes every Secret, and there is no key whose access could be revoked.",
    fix="Set encryptionConfig of the cluster, with a KMS key and resources: [secrets].",
    checks={
        "key": Check(
            asks="must be the ARN of a KMS key",
            find=_no_key,
            external_ids=("CKV_AWS_58", "AVD-AWS-0039", "CIS-5.3.1"),
        ),
        "resources": Check(
            asks="must contain 'secrets'",
            find=_not_secrets,
            external_ids=("CKV_AWS_58", "AVD-AWS-0039", "CIS-5.3.1"),
        ),
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
    title="All log types of the control plane are enabled",
    types=(CLUSTER,),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="Without the audit log, an investigation can't show which identity did what.",
    fix=f"Set enabledClusterLogTypes to {', '.join(LOG_TYPES)}.",
    checks={
        "types": Check(
            asks="must contain all five log types",
            find=_missing_log_types,
            external_ids=("CKV_AWS_37", "AVD-AWS-0038", "CIS-2.1.1"),
        )
    },
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


def _unencrypted(group: Resource, _: Context) -> Iterator[Violation]:
    if group["kmsKeyId"].missing:
        yield violation(group["kmsKeyId"])


LOG_GROUPS = ResourceRule(
    name="log-group-retention-cmk",
    title="Log groups have a bounded retention and a customer managed KMS key",
    types=(LOG_GROUP,),
    severity=Severity.MEDIUM,
    levels=Levels("A/A/M"),
    why="Investigations need a year of logs; by default CloudWatch keeps logs forever and bills for them.",
    fix="Set cluster.logRetentionDays, network.flowLogs.retentionDays or addons.fluentBit.retentionDays; the components"
    " set the key.",
    settings={
        "minimumDays": Setting(
            asks="minimum retention of logs, in days",
            schema={"type": "integer", "minimum": 1},
            values={"dev": 7, "staging": 30, "prod": 365},
        ),
        "maximumDays": Setting(
            asks="maximum retention of logs, in days",
            schema={"type": "integer", "minimum": 1},
            values={"dev": 90, "staging": 365, "prod": 3653},
        ),
    },
    checks={
        "minimum": Check(
            asks="must be at least the environment's minimum",
            find=_kept_too_briefly,
            external_ids=("CKV_AWS_66", "CKV_AWS_338", "CIS-2.1.2"),
        ),
        "maximum": Check(
            asks="must be at most the environment's maximum",
            find=_kept_too_long,
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
    title="The cluster is protected from deletion, in EKS and in Pulumi",
    types=(CLUSTER,),
    severity=Severity.HIGH,
    levels=Levels("-/A/M"),
    why="A change of an immutable property, or `destroy` of the wrong stack, deletes every workload.",
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
