"""Bad inputs that must be refused: the mistake, and the path, rule and fix of the report."""

from __future__ import annotations

from typing import Final

from tests.spec.settings.bad.cluster import CLUSTER
from tests.spec.settings.bad.cost import COST
from tests.spec.settings.bad.environment import ENVIRONMENT
from tests.spec.settings.bad.gpus import GPUS
from tests.spec.settings.bad.limits import LIMITS
from tests.spec.settings.bad.network import NETWORK
from tests.spec.settings.bad.pools import POOLS
from tests.spec.settings.bad.row import Bad
from tests.spec.settings.bad.storage import STORAGE
from tests.spec.settings.bad.teams import TEAMS
from tests.spec.settings.bad.whole import WHOLE

ROWS: Final[tuple[Bad, ...]] = (
    *ENVIRONMENT,
    *NETWORK,
    *CLUSTER,
    *POOLS,
    *GPUS,
    *STORAGE,
    *TEAMS,
    *LIMITS,
    *COST,
    *WHOLE,
)

NOT_GIVEN: Final = {
    4: "subnets are not in the file: spec.subnets computes them from the VPC's range",
    5: "subnets are not in the file: spec.subnets computes them from the VPC's range",
    16: "the running version is not in the file: the plan of an upgrade compares with the state",
    17: "the running version is not in the file: the plan of an upgrade compares with the state",
    34: "no load balancer's name is in the file",
    36: "names of Helm releases are constants of the add-ons",
}
"""Numbers that concern no setting of these families, and why."""
