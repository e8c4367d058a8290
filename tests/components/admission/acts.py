"""Acts on a cluster with all rules."""

from typing import Final

from tests.components.admission.acts_of_controllers import OWNERS, QUEUES
from tests.components.admission.acts_of_keys import KEYED
from tests.components.admission.acts_of_lists import LISTED
from tests.components.admission.acts_of_members import BOUNDS, ISOLATION
from tests.components.admission.acts_of_ray import RAY
from tests.components.admission.acts_of_reach import REACHING
from tests.components.admission.acts_of_sources import BALANCED, SCALED

NAMESPACE: Final = "acts"
ACTS: Final = (*OWNERS, *QUEUES, *BOUNDS, *ISOLATION, *RAY, *REACHING, *KEYED, *BALANCED, *SCALED, *LISTED)
