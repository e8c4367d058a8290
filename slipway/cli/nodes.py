"""The nodes of a cluster in the sandbox, by pool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slipway.cli.cluster import client_of
from slipway.sandbox.kubernetes.errors import ApiError, UnreachableError
from slipway.sandbox.nodes.spec import PLACEHOLDER_NODE
from spec.errors import SlipwayError
from spec.pools.keys import POOL

INSTANCE_TYPE = "node.kubernetes.io/instance-type"


@dataclass(frozen=True)
class PoolNodes:
    """The nodes of a pool and instance type; `placeholder` if a placeholder node represents a pool at zero."""

    pool: str
    instance_type: str
    count: int
    placeholder: bool


def read(kubeconfig: Path, cluster: str) -> list[PoolNodes]:
    """The nodes of a cluster; none if the cluster does not exist.

    Raises:
        SlipwayError: Its API server does not answer.
    """
    client = client_of(kubeconfig, cluster)
    if client is None:
        return []
    try:
        return by_pool(client.get_path("/api/v1/nodes")["items"])
    except (ApiError, UnreachableError) as error:
        msg = f"the nodes of cluster {cluster} can't be read: {error}"
        raise SlipwayError(msg) from error


def by_pool(nodes: Iterable[Mapping[str, Any]]) -> list[PoolNodes]:
    """Nodes of the API, counted by pool, instance type, and whether they are placeholders."""
    counts: dict[tuple[str, str, bool], int] = {}
    for node in nodes:
        metadata = node["metadata"]
        labels = metadata.get("labels") or {}
        placeholder = (metadata.get("annotations") or {}).get(PLACEHOLDER_NODE) == "true"
        key = (labels.get(POOL, "no pool"), labels.get(INSTANCE_TYPE, "?"), placeholder)
        counts[key] = counts.get(key, 0) + 1
    return [PoolNodes(pool, kind, count, placeholder) for (pool, kind, placeholder), count in sorted(counts.items())]
