"""Teams on the cluster: namespaces, quotas, RBAC, network policies and AWS identities."""

from components.tenancy.namespace import TeamContext
from components.tenancy.team import TeamOutputs, teams

__all__ = ["TeamContext", "TeamOutputs", "teams"]
