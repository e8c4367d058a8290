"""Subnets and security groups that something still uses can't be deleted.

Moto 5.2.5 makes a network interface for mount targets, NAT gateways and endpoints, but deletes their subnet and their
group nevertheless; for clusters, file systems of FSx and databases it makes none, so those are asked themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from slipway.sandbox.aws.rules.rule import Case, Moment, rule

_SOURCE = (
    "https://docs.aws.amazon.com/vpc/latest/userguide/subnet-deleting.html and deleting-security-groups.html, read "
    "2026-11"
)


@rule("aws:ec2/subnet:Subnet", "DependencyViolation", "vpcId", _SOURCE, Moment.DELETE)
def subnet_in_use(case: Case) -> str | None:
    """A subnet with interfaces in it."""
    users = [*_interfaces(case, "subnet-id"), *_without_interfaces(case, "SubnetIds", "subnetIds")]
    return f"The subnet '{case.id}' has dependencies and cannot be deleted: {users[0]}" if users else None


@rule("aws:ec2/securityGroup:SecurityGroup", "DependencyViolation", "name", _SOURCE, Moment.DELETE)
def group_in_use(case: Case) -> str | None:
    """A group on an interface, or in a rule of another group."""
    users = [
        *_interfaces(case, "group-id"),
        *_without_interfaces(case, "VpcSecurityGroupIds", "securityGroupIds"),
        *_rules(case),
    ]
    return f"resource {case.id} has a dependent object: {users[0]}" if users else None


def _interfaces(case: Case, name: str) -> Iterator[str]:
    wanted = [{"Name": name, "Values": [case.id]}]
    for one in case.aws.call("ec2", "describe_network_interfaces", Filters=wanted)["NetworkInterfaces"]:
        yield f"{one['NetworkInterfaceId']} {one.get('Description', '')}".strip()


def _without_interfaces(case: Case, of_instance: str, of_cluster: str) -> Iterator[str]:
    """What has interfaces on AWS and none in moto."""
    for name in case.aws.call("eks", "list_clusters")["clusters"]:
        cluster = case.aws.call("eks", "describe_cluster", name=name)["cluster"]
        if case.id in (cluster["resourcesVpcConfig"].get(of_cluster) or []):
            yield f"cluster {name}"
    for system in case.aws.call("fsx", "describe_file_systems")["FileSystems"]:
        if case.id in (system.get("SubnetIds") or []) and of_instance == "SubnetIds":
            yield f"file system {system['FileSystemId']}"
    for instance in case.aws.call("rds", "describe_db_instances")["DBInstances"]:
        subnets = [one["SubnetIdentifier"] for one in (instance.get("DBSubnetGroup") or {}).get("Subnets", [])]
        groups = [one["VpcSecurityGroupId"] for one in instance.get("VpcSecurityGroups", [])]
        if case.id in (subnets if of_instance == "SubnetIds" else groups):
            yield f"database {instance['DBInstanceIdentifier']}"


def _rules(case: Case) -> Iterator[str]:
    """Rules of other groups that name this one as their source or destination."""
    for name in ("ip-permission.group-id", "egress.ip-permission.group-id"):
        wanted = [{"Name": name, "Values": [case.id]}]
        for group in case.aws.call("ec2", "describe_security_groups", Filters=wanted)["SecurityGroups"]:
            if group["GroupId"] != case.id:
                yield f"a rule of {group['GroupId']}"


RULES = (subnet_in_use, group_in_use)
