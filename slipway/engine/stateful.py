"""Resource types that keep state: their replacement or deletion loses something that no later update restores.

The gate reads this table; each type has what is lost and what to do instead. A type that is not listed is rebuilt from
the program alone, so its replacement costs only time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

ROLE: Final = "platform.slipway/role"
"""Label with the role of a pool (`spec.pools.keys`)."""
_RESTORE: Final = "restore the previous value"


@dataclass(frozen=True, kw_only=True)
class Stateful:
    """A type that keeps state.

    Attributes:
        loses: What its replacement or deletion loses.
        fix: What to do instead.
        holds: Whether a resource with these inputs and outputs holds anything at present; None means always.
    """

    loses: str
    fix: str = f"{_RESTORE}; to migrate, copy the data elsewhere, for example to a second stack, before you allow it"
    holds: Callable[[Mapping[str, Any], Mapping[str, Any]], bool] | None = None


def _nodes(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> bool:
    """A node group with nodes, of a pool that runs jobs; controllers on a system pool are rescheduled without loss."""
    if (inputs.get("labels") or {}).get(ROLE) == "system":
        return False
    scaling = outputs.get("scalingConfig") or inputs.get("scalingConfig") or {}
    return bool(scaling.get("desiredSize", 1))


def _machines(_: Mapping[str, Any], outputs: Mapping[str, Any]) -> bool:
    """A NodePool with nodes according to its status; without a status it counts as empty."""
    resources = (outputs.get("status") or {}).get("resources") or {}
    return str(resources.get("nodes", "0")) != "0"


_FILES: Final = Stateful(loses="every file on it: data sets, checkpoints, models")
_LUSTRE: Final = Stateful(
    loses=_FILES.loses + ", unless a linked bucket has them",
    # The metric of FSx for Lustre, with the dimension Publisher AutoExport (docs/addons/storage.md, "Troubleshooting").
    fix=f"{_RESTORE}; to migrate, end the jobs, wait until AgeOfOldestQueuedMessage is 0, and allow it: the new file "
    "system imports what its buckets have",
)
_ROWS: Final = Stateful(loses="every row in it; snapshots remain if they were configured")
_POOL: Final = "drain the pool first (its nodes are deleted with it), or add the new pool under another name"

TABLE: Final[Mapping[str, Stateful]] = {
    "aws:eks/cluster:Cluster": Stateful(
        loses="every object in the cluster, its identity provider and its endpoint",
        fix=f"{_RESTORE}; for a cluster with another value, create a second stack and move the workloads to it",
    ),
    "aws:eks/nodeGroup:NodeGroup": Stateful(loses="the jobs on its nodes", fix=_POOL, holds=_nodes),
    "kubernetes:karpenter.sh/v1:NodePool": Stateful(loses="the jobs on its nodes", fix=_POOL, holds=_machines),
    "aws:efs/fileSystem:FileSystem": _FILES,
    "aws:fsx/lustreFileSystem:LustreFileSystem": _LUSTRE,
    "aws:fsx/openZfsFileSystem:OpenZfsFileSystem": _FILES,
    "aws:fsx/openZfsVolume:OpenZfsVolume": _FILES,
    "aws:fsx/ontapFileSystem:OntapFileSystem": _FILES,
    "aws:fsx/ontapVolume:OntapVolume": _FILES,
    "aws:fsx/fileCache:FileCache": Stateful(loses="data that is not yet written back to the data repository"),
    "aws:ebs/volume:Volume": _FILES,
    "aws:s3/bucket:Bucket": Stateful(loses="every object in it, and its name, which another account may then take"),
    "aws:s3/directoryBucket:DirectoryBucket": Stateful(loses="every object in it"),
    "aws:kms/key:Key": Stateful(
        loses="everything that it encrypts, permanently: neither AWS nor a backup can read it without the key",
        fix=f"{_RESTORE}; keep an unused key until nothing that it encrypted is left",
    ),
    "aws:kms/replicaKey:ReplicaKey": Stateful(loses="everything that it encrypts in its Region"),
    "aws:rds/instance:Instance": _ROWS,
    "aws:rds/cluster:Cluster": _ROWS,
    "aws:dynamodb/table:Table": _ROWS,
    "aws:ecr/repository:Repository": Stateful(loses="every image in it, including those of running pods"),
    "aws:secretsmanager/secret:Secret": Stateful(loses="its value, and its name for 7 to 30 days"),
    "aws:backup/vault:Vault": Stateful(loses="every recovery point in it"),
    "aws:cloudwatch/logGroup:LogGroup": Stateful(loses="the logs in it, including audit logs"),
    "kubernetes:core/v1:PersistentVolume": Stateful(loses="the volume, if its reclaim policy is Delete"),
    "kubernetes:core/v1:PersistentVolumeClaim": Stateful(loses="the claim, and a dynamically provisioned volume"),
    "kubernetes:core/v1:Namespace": Stateful(
        loses="everything in it: jobs, services, claims, secrets",
        fix=f"{_RESTORE}; before a team is removed, copy its data elsewhere",
    ),
    "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition": Stateful(
        loses="every object of its kind, in all namespaces"
    ),
}
"""By type token."""


def among(types: Iterable[str]) -> bool:
    """Whether any of these types keeps state."""
    return any(kind in TABLE for kind in types)
