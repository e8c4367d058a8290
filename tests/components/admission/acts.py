"""Acts on a cluster with all rules."""

from __future__ import annotations

from typing import Final

from tests.components.admission.acts_of_controllers import OWNERS, QUEUES
from tests.components.admission.acts_of_members import BOUNDS, ISOLATION
from tests.components.admission.acts_of_ray import RAY
from tests.components.admission.acts_of_reach import REACHING

NAMESPACE: Final = "acts"
ACTS: Final = (*OWNERS, *QUEUES, *BOUNDS, *ISOLATION, *RAY, *REACHING)
