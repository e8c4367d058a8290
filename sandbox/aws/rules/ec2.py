"""Rules of EC2 that no row says: what a cluster uses can't be deleted. On AWS a cluster has interfaces, in moto it has
none; what has interfaces, and what else has none, are rows of `requests-network.yaml`."""

from __future__ import annotations

from sandbox.aws.rules.rule import Case, rule

_SOURCE = (
    "https://docs.aws.amazon.com/vpc/latest/userguide/subnet-deleting.html and deleting-security-groups.html, read "
    "2026-11"
)


@rule("ec2.delete_subnet ec2.delete_security_group", "DependencyViolation", "SubnetId GroupId", _SOURCE, live=True)
def used_by_a_cluster(case: Case) -> str | None:
    """A subnet or security group of a cluster."""
    id = case.given.get("SubnetId") or case.given.get("GroupId")
    for name in case.aws.call("eks", "list_clusters")["clusters"]:
        config = case.aws.call("eks", "describe_cluster", name=name)["cluster"]["resourcesVpcConfig"]
        if id in [*(config.get("subnetIds") or []), *(config.get("securityGroupIds") or [])]:
            return f"{id} has dependencies and cannot be deleted: cluster {name}"
    return None
