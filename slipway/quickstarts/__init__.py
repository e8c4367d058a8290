"""Complete YAML for `kubectl`: a first job, sweep, notebook or model server with a team's own queue, pools and claims.

The typed workloads of `components.workloads` make the objects, so a quickstart is what a Pulumi program would declare.
"""

from slipway.quickstarts.catalog import QUICKSTARTS, Chosen, Quickstart, choose
from slipway.quickstarts.request import CLAIM, PLACEHOLDER, QuickstartRequest, namespace_of, text

__all__ = [
    "CLAIM",
    "PLACEHOLDER",
    "QUICKSTARTS",
    "Chosen",
    "Quickstart",
    "QuickstartRequest",
    "choose",
    "namespace_of",
    "text",
]
