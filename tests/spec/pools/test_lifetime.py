"""How long a job may run on a node."""

from __future__ import annotations

from spec.pools.lifetime import guaranteed_seconds
from tests.components.pools.samples import MANAGED_A100, spec


def test_the_drain_bounds_a_job_and_not_the_age_of_the_node() -> None:
    pool = {"preset": "h100", "disruption": {"expireAfter": "2h", "terminationGracePeriod": "30h"}}
    assert guaranteed_seconds(spec(**pool)) == 30 * 3600


def test_managed_groups_and_spot_pools_have_no_drain_to_rely_on() -> None:
    assert guaranteed_seconds(spec(**MANAGED_A100)) is None
    assert guaranteed_seconds(spec(preset="gpu-spot")) is None
