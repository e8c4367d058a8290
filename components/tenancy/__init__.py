"""Teams on the cluster: namespaces, bounds, rights, networks and identities of each."""

from components.tenancy.namespace import TeamContext
from components.tenancy.team import TeamOutputs, teams

__all__ = ["TeamContext", "TeamOutputs", "teams"]
