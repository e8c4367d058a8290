"""All that keeps data, made before anything that uses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pulumi

from components.handles import ClusterHandle, NetworkHandle, StorageHandle
from components.storage.buckets import Buckets, BucketsArgs
from components.storage.key import key_policy, make_key
from infra.catalog import regions
from infra.config.platform import Platform


@dataclass(frozen=True, kw_only=True)
class StorageArgs:
    """Inputs of `Storage`.

    Attributes:
        platform: All settings: what is kept follows from storage, pools and add-ons.
        cluster: The cluster, which mounts file systems and volumes.
        network: Where the file systems are reached.
    """

    platform: Platform
    cluster: ClusterHandle
    network: NetworkHandle


class Storage(pulumi.ComponentResource):
    """Buckets, file systems, databases, and the classes by which volumes are made of them."""

    TOKEN: Final = "slipway:storage:Storage"  # noqa: S105 - a type, not a secret

    handle: StorageHandle

    def __init__(self, name: str, args: StorageArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.TOKEN, name, None, opts)
        self._name, self._args = name, args
        self._child = pulumi.ResourceOptions(parent=self)
        given, environment = args.platform.storage, args.platform.environment
        cluster = args.cluster
        key = make_key(
            f"{name}-key",
            cluster=cluster.name,
            policy=key_policy(regions.get(cluster.region), cluster.account_id, lustre=given.lustre is not None),
            deletion_days=given.key_deletion_days,
            protect=environment.protect,
            parent=self,
        )
        buckets = Buckets(
            name,
            BucketsArgs(
                settings=given.buckets,
                key_arn=key.arn,
                account_id=cluster.account_id,
                protect=environment.protect,
            ),
            self._child,
        )
        self.handle = StorageHandle(
            key_arn=key.arn,
            buckets=buckets.handles,
            efs=None,
            lustre=None,
            classes={"block": "gp3"},
            databases={},
            ready=(),
        )
        self.register_outputs(_outputs(self.handle))


def _outputs(handle: StorageHandle) -> Mapping[str, pulumi.Output[str]]:
    return {f"{purpose}Bucket": bucket.name for purpose, bucket in sorted(handle.buckets.items())}
