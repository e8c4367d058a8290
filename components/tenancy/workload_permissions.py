"""AWS permissions of a team's pods: read its raw data, read and write its checkpoints and models, and, if workflows are
enabled, the artifacts of the namespace; nothing else.

A team's data is under the prefix with the team's name. Listing is limited to that prefix too, so no team can list the
names of others.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import pulumi

from components.base.iam import Statement, document
from components.base.operator import object_of
from components.base.outputs import StorageOutputs
from components.storage.buckets import artifacts_of

SERVICE_ACCOUNT: Final = "workload"  # service account of workloads in every team namespace
READ: Final = ("raw",)
WRITTEN: Final = ("checkpoints", "models")
ARTIFACTS: Final = "state"  # bucket for artifacts that workflow steps pass to one another
_READ_ACTIONS: Final = ("s3:GetObject", "s3:GetObjectTagging")
_WRITE_ACTIONS: Final = (
    *_READ_ACTIONS,
    "s3:AbortMultipartUpload",
    "s3:DeleteObject",
    "s3:ListMultipartUploadParts",
    "s3:PutObject",
    "s3:PutObjectTagging",
)


def workload_document(
    team: str, buckets: Mapping[str, str], key: str, s3: str, *, workflows_in: str | None = None
) -> str:
    """The policy of a team's pods.

    Args:
        team: Name of the team, which is its prefix.
        buckets: ARNs of buckets by purpose.
        key: ARN of their KMS key.
        s3: The only service through which pods may use the key: `s3.us-east-1.amazonaws.com`. workflows_in: The
        namespace, if Argo runs workflows in it. Artifacts aren't shared between namespaces, even of the same team.
    """
    own = [buckets[purpose] for purpose in (*READ, *WRITTEN)]
    prefixes = {"StringLike": {"s3:prefix": [f"{team}/*", f"{team}/"]}}
    return document(
        Statement("ListOwn", ["s3:ListBucket"], own, conditions=prefixes),
        Statement("ReadOwn", _READ_ACTIONS, _objects(team, buckets, READ)),
        Statement("WriteOwn", _WRITE_ACTIONS, _objects(team, buckets, WRITTEN)),
        Statement(
            "KeyThroughS3",
            ["kms:Decrypt", "kms:GenerateDataKey"],
            [key],
            conditions={"StringEquals": {"kms:ViaService": [s3]}},
        ),
        *(_artifacts(workflows_in, buckets[ARTIFACTS]) if workflows_in else ()),
    )


def _artifacts(namespace: str, bucket: str) -> tuple[Statement, Statement]:
    """Permissions to put, get and list artifacts (argo-workflows, "Configuring Your Artifact Repository", AWS S3 IAM
    roles, v4): Argo lists a directory before it downloads it."""
    place = artifacts_of(namespace)
    listing = {"StringLike": {"s3:prefix": [f"{place}*"]}}
    return (
        Statement("ListArtifacts", ["s3:ListBucket"], [bucket], conditions=listing),
        Statement("WriteArtifacts", _WRITE_ACTIONS, [f"{bucket}/{place}*"]),
    )


def models_document(team: str, *, bucket: str, key: str, s3: str) -> str:
    """The policy of servers that only load a team's models.

    Args:
        team: Name of the team, which is its prefix.
        bucket: ARN of the bucket of models.
        key: ARN of its KMS key.
        s3: The only service through which they may use the key.
    """
    return document(
        Statement(
            "ListOwn",
            ["s3:ListBucket"],
            [bucket],
            conditions={"StringLike": {"s3:prefix": [f"{team}/*", f"{team}/"]}},
        ),
        Statement("ReadOwn", _READ_ACTIONS, [f"{bucket}/{team}/*"]),
        Statement("KeyThroughS3", ["kms:Decrypt"], [key], conditions={"StringEquals": {"kms:ViaService": [s3]}}),
    )


def _objects(team: str, buckets: Mapping[str, str], purposes: Sequence[str]) -> list[str]:
    return [f"{buckets[purpose]}/{team}/*" for purpose in purposes]


def workload_policy(
    team: str, storage: StorageOutputs, s3: str, *, workflows_in: str | None = None
) -> pulumi.Output[str]:
    """The same as an Output, for buckets created in the same run."""
    purposes = (*READ, *WRITTEN, *([ARTIFACTS] if workflows_in else []))
    arns = {purpose: storage.buckets[purpose].arn for purpose in purposes}
    known = pulumi.Output.all(key=storage.key_arn, **arns)
    return known.apply(
        lambda values: workload_document(
            team, {name: values[name] for name in arns}, values["key"], s3, workflows_in=workflows_in
        )
    )


def service_account_manifest(namespace: str) -> dict[str, object]:
    """The service account. EKS Pod Identity uses its own token, so the Kubernetes API token isn't mounted; a workload
    that calls the API mounts it in its pod spec."""
    return object_of("v1", "ServiceAccount", SERVICE_ACCOUNT, namespace, automountServiceAccountToken=False)
