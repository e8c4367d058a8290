"""Teams on the cluster: namespaces, bounds, rights, networks and identities of each."""

from components.tenancy.namespace import TeamGround
from components.tenancy.team import TeamHandle, teams

__all__ = ["TeamGround", "TeamHandle", "teams"]
