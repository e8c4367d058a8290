"""Tags of machines and what hangs on them: the bill and the console show which pool they are of."""

from __future__ import annotations

from collections.abc import Mapping

from spec.pools import keys


def machine_tags(pool: str, cluster: str, tags: Mapping[str, str]) -> dict[str, str]:
    """The platform's tags, the pool's, and a name, sorted by key."""
    return dict(sorted({**tags, keys.POOL: pool, "Name": f"{cluster}-{pool}"}.items()))
