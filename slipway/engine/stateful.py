"""What keeps state: types whose replacement or deletion loses something that no later update brings back.

One table for the gate, each type with what is lost and what to do instead. A type that is not here is rebuilt from the
program alone, so its replacement costs time and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

ROLE: Final = "platform.slipway/role"
"""Label that says what a pool is for (`spec.pools.keys`)."""
_KEEP: Final = "put the former value back"


@dataclass(frozen=True, kw_only=True)
class Stateful:
    """Why a type is in the table.

    Attributes:
        loses: What is gone afterwards.
        fix: What to do instead.
        holds: Whether one that stands so holds anything now, by its inputs and outputs; all do where not given.
    """

    loses: str
    fix: str = f"{_KEEP}; to move, make a second one beside it, copy, and remove the first in a later change"
    holds: Callable[[Mapping[str, Any], Mapping[str, Any]], bool] | None = None


def _nodes(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> bool:
    """A node group with machines, of a pool that runs jobs: controllers of a system pool move without a loss."""
    if (inputs.get("labels") or {}).get(ROLE) == "system":
        return False
    scaling = outputs.get("scalingConfig") or inputs.get("scalingConfig") or {}
    return bool(scaling.get("desiredSize", 1))


def _machines(_: Mapping[str, Any], outputs: Mapping[str, Any]) -> bool:
    """A NodePool with machines, as its status tells; one that was never looked at has none to speak of."""
    resources = (outputs.get("status") or {}).get("resources") or {}
    return str(resources.get("nodes", "0")) != "0"


_FILES: Final = Stateful(loses="every file on it: data sets, checkpoints, models")
_ROWS: Final = Stateful(loses="every row of it; snapshots stay where they were configured")
_POOL: Final = "drain the pool first (its nodes go with it), or make the new pool beside it under another name"

TABLE: Final[Mapping[str, Stateful]] = {
    "aws:eks/cluster:Cluster": Stateful(
        loses="every object in the cluster, its identity provider and its endpoint",
        fix=f"{_KEEP}; a cluster with another one is a second stack, to which work is moved",
    ),
    "aws:eks/nodeGroup:NodeGroup": Stateful(loses="the jobs on its nodes", fix=_POOL, holds=_nodes),
    "kubernetes:karpenter.sh/v1:NodePool": Stateful(loses="the jobs on its nodes", fix=_POOL, holds=_machines),
    "aws:efs/fileSystem:FileSystem": _FILES,
    "aws:fsx/lustreFileSystem:LustreFileSystem": _FILES,
    "aws:fsx/openZfsFileSystem:OpenZfsFileSystem": _FILES,
    "aws:fsx/openZfsVolume:OpenZfsVolume": _FILES,
    "aws:fsx/ontapFileSystem:OntapFileSystem": _FILES,
    "aws:fsx/ontapVolume:OntapVolume": _FILES,
    "aws:fsx/fileCache:FileCache": Stateful(loses="what was not yet written back to the data repository"),
    "aws:ebs/volume:Volume": _FILES,
    "aws:s3/bucket:Bucket": Stateful(loses="every object in it and its name, which somebody else may then take"),
    "aws:s3/directoryBucket:DirectoryBucket": Stateful(loses="every object in it"),
    "aws:kms/key:Key": Stateful(
        loses="all that it encrypts, for ever: neither AWS nor a backup can read it without the key",
        fix=f"{_KEEP}; a key that is given up stays until nothing that it encrypted is left",
    ),
    "aws:kms/replicaKey:ReplicaKey": Stateful(loses="what it encrypts in its Region"),
    "aws:rds/instance:Instance": _ROWS,
    "aws:rds/cluster:Cluster": _ROWS,
    "aws:dynamodb/table:Table": _ROWS,
    "aws:ecr/repository:Repository": Stateful(loses="every image in it, those of running pods among them"),
    "aws:secretsmanager/secret:Secret": Stateful(loses="its value, and its name for 7 to 30 days"),
    "aws:backup/vault:Vault": Stateful(loses="every recovery point in it"),
    "aws:cloudwatch/logGroup:LogGroup": Stateful(loses="the logs in it, audit logs among them"),
    "kubernetes:core/v1:PersistentVolume": Stateful(loses="the volume, where its reclaim policy is Delete"),
    "kubernetes:core/v1:PersistentVolumeClaim": Stateful(loses="the claim, and its volume where that is made for it"),
    "kubernetes:core/v1:Namespace": Stateful(
        loses="everything in it: jobs, services, claims, secrets",
        fix=f"{_KEEP}; a team that leaves takes its data out first",
    ),
    "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition": Stateful(
        loses="every object of its kind, in all namespaces"
    ),
}
"""By type token."""


def among(types: Iterable[str]) -> bool:
    """Whether any of some types keeps state."""
    return any(kind in TABLE for kind in types)
