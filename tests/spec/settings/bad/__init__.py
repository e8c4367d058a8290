"""Bad inputs that must be refused: what is wrong with the stack, where the report points, what it says."""

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
    4: "subnets are not in the file: spec.subnets cuts them out of the VPC's range",
    5: "subnets are not in the file: spec.subnets cuts them out of the VPC's range",
    16: "the file does not know the version that runs: a plan of an upgrade compares with the state",
    17: "the file does not know the version that runs: a plan of an upgrade compares with the state",
    34: "no load balancer's name is in the file",
    36: "names of Helm releases are constants of the add-ons",
}
"""Numbers that concern no setting of these families, and why."""
