"""Bad inputs that must be refused: what is wrong with the stack, where the report points, what it says."""

from __future__ import annotations

from typing import Final

from tests.infra.config.bad.cluster import CLUSTER
from tests.infra.config.bad.cost import COST
from tests.infra.config.bad.environment import ENVIRONMENT
from tests.infra.config.bad.gpus import GPUS
from tests.infra.config.bad.limits import LIMITS
from tests.infra.config.bad.network import NETWORK
from tests.infra.config.bad.pools import POOLS
from tests.infra.config.bad.row import Bad
from tests.infra.config.bad.storage import STORAGE
from tests.infra.config.bad.teams import TEAMS
from tests.infra.config.bad.whole import WHOLE

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
    4: "subnets are not in the file: infra.subnets cuts them out of the VPC's range",
    5: "subnets are not in the file: infra.subnets cuts them out of the VPC's range",
    16: "the file does not know the version that runs: a plan of an upgrade compares with the state",
    17: "the file does not know the version that runs: a plan of an upgrade compares with the state",
    34: "no load balancer's name is in the file",
    36: "names of Helm releases are constants of the add-ons",
}
"""Numbers that concern no setting of these families, and why."""
