"""Tags of instances, volumes and network interfaces: cost reports and the console show their pool."""

from __future__ import annotations

from collections.abc import Mapping

from spec.pools import keys


def machine_tags(pool: str, cluster: str, tags: Mapping[str, str]) -> dict[str, str]:
    """The platform's tags, the pool's, and a name, sorted by key."""
    return dict(sorted({**tags, keys.POOL: pool, "Name": f"{cluster}-{pool}"}.items()))
