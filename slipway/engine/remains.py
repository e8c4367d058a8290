"""What AWS keeps, and bills, after a resource is deleted as its inputs say: copies of data that services make.

Retained resources (`retainOnDelete`) are not here: the state names them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

Inputs = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Remains:
    """What remains of a type."""

    what: Callable[[Inputs], str]  # describes it; empty if nothing remains with these inputs
    key: str = ""  # the input with the KMS key that it is encrypted with; empty if AWS or the service owns that key


def _final_snapshot(inputs: Inputs) -> str:
    if inputs.get("skipFinalSnapshot") in (True, "true"):
        return ""
    return f"final snapshot {inputs.get('finalSnapshotIdentifier') or '(no name: it can not be deleted)'}"


def _recovery_points(inputs: Inputs) -> str:
    on = (inputs.get("backupPolicy") or {}).get("status") == "ENABLED"
    return "recovery points, until they are 35 days old, in vault aws/efs/automatic-backup-vault" if on else ""


def _cached_repositories(inputs: Inputs) -> str:
    return f"image repositories {inputs.get('ecrRepositoryPrefix')}/*, if images were pulled through it"


def _log_group(inputs: Inputs) -> str:
    name = str(inputs.get("name") or "")
    if not name.startswith("/aws/eks/"):
        return ""
    return f"log group {name}, if EKS writes once more: until `destroy` is run again, `up` can't create it"


TABLE: Final[Mapping[str, Remains]] = {
    # EKS's service-linked role makes it again, without retention and key, while the control plane ends
    # (terraform-aws-modules/terraform-aws-eks#2763, read 2026-11).
    "aws:cloudwatch/logGroup:LogGroup": Remains(what=_log_group),
    "aws:rds/instance:Instance": Remains(what=_final_snapshot, key="kmsKeyId"),
    "aws:rds/cluster:Cluster": Remains(what=_final_snapshot, key="kmsKeyId"),
    # "Amazon EFS backups are always encrypted. The AWS KMS encryption key for Amazon EFS backups is configured in the
    # AWS Backup vault" (AWS Backup Developer Guide, "Encryption for backups in AWS Backup"; read 2026-11).
    "aws:efs/backupPolicy:BackupPolicy": Remains(what=_recovery_points),
    # ECR makes them with its own key: the template names none (ECR User Guide, "Repository creation templates").
    "aws:ecr/pullThroughCacheRule:PullThroughCacheRule": Remains(what=_cached_repositories),
}
"""By type token. FSx for Lustre takes a final backup only with `skipFinalBackup: false` (pulumi-aws 7.51.1, default
true), and none of a file system that is linked to a bucket."""


def of(type_token: str, inputs: Inputs) -> str:
    """What remains of a resource; empty if nothing does."""
    known = TABLE.get(type_token)
    return known.what(inputs) if known else ""
