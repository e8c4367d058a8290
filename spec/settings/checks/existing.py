"""Checks of `cluster.existing`, as far as they need no AWS; `spec.settings.found_cluster` has those of a preview."""

from collections.abc import Iterator
from typing import Final

from spec.settings.addons import Addons
from spec.settings.checks.base import Context
from spec.settings.cluster import AddonName, Cluster
from spec.settings.existing import CLUSTER_AUTOSCALER, KEYS
from spec.settings.network import Network
from spec.settings.problems import Problem
from spec.settings.storage import Storage

PATH: Final = "cluster.existing"
_OURS: Final = ("existing", "version", "serviceIpv4Cidr", "amiRelease", "repairGpus", "addons")
"""Keys of `cluster` beside a cluster that exists: what the checks must know of it, and what the stack may add."""


def kept(context: Context, cluster: Cluster) -> Iterator[Problem]:
    """The owner of a cluster that exists has its other settings."""
    if cluster.existing is None:
        return
    for key, value in context.raw["cluster"].items():
        if key not in _OURS:
            rule = "Slipway changes nothing of a cluster that exists"
            yield Problem(f"cluster.{key}", rule, value, "Remove it, and ask the owner of the cluster.")


def installed(_context: Context, cluster: Cluster, addons: Addons) -> Iterator[Problem]:
    """Add-ons of the cluster are some that Slipway knows, and whose data isn't the stack's."""
    ours = {own.addon for own in addons.databases().values()}
    known = sorted({str(field.alias) for field in Addons.model_fields.values()} - ours | {CLUSTER_AUTOSCALER})
    for position, key in enumerate(cluster.existing.installed if cluster.existing else ()):
        if key not in known:
            rule = "its database would be the stack's" if key in ours else "it must be an add-on"
            yield Problem(f"{PATH}.installed.{position}", rule, key, f"Use one of {', '.join(known)}.")


def storage_made(_context: Context, storage: Storage, cluster: Cluster) -> Iterator[Problem]:
    """A stack that makes its cluster makes storage; one that doesn't makes the driver that a file system admits."""
    if cluster.existing is None and not storage.enabled:
        yield Problem("storage.enabled", "a stack that makes its cluster makes storage", False, "Remove the line.")
    driver = cluster.addons.get(AddonName.EFS_CSI)
    if cluster.existing is not None and storage.efs and driver is not None and not driver.enabled:
        rule = "the file system admits only the driver of the stack"
        yield Problem("storage.efs", rule, None, f"Add `{AddonName.EFS_CSI}: {{}}` to cluster.addons.")


def network_found(_context: Context, network: Network, cluster: Cluster) -> Iterator[Problem]:
    """VPC and subnets are named by ID or by tags: not by both, and by neither only if they are those of the cluster."""
    if network.existing is None:
        return
    vpc, path = network.existing.vpc, "network.existing"
    named: dict[str, tuple[str, object, object, str]] = {
        "vpc": ("the VPC is named by its ID or by tags", vpc.id, vpc.tags, "id")
    }
    for kind, subnets in network.existing.kinds.items():
        rule = "subnets are named by their IDs or by tags"
        named[KEYS[kind]] = (rule, dict(subnets.ids) or None, subnets.tags, "ids")
    for key, (rule, given, tags, what) in named.items():
        of_cluster = cluster.existing is not None and key in ("vpc", KEYS["private"])
        if bool(given) == bool(tags) and not (of_cluster and not given):
            yield Problem(f"{path}.{key}", rule, given, f"Set one of `{what}` and `tags`.")
