"""Rules of EC2: what still uses a subnet or security group, which can't be deleted then.

Moto 5.2.5 makes a network interface for mount targets, NAT gateways and endpoints, but deletes their subnet and their
group nevertheless; for clusters, file systems of FSx and databases it makes none, so those are asked themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from sandbox.aws.rules.rule import Case, rule

_SOURCE = (
    "https://docs.aws.amazon.com/vpc/latest/userguide/subnet-deleting.html and deleting-security-groups.html, read "
    "2026-11"
)


@rule("ec2.delete_subnet", "DependencyViolation", "SubnetId", _SOURCE, live=True)
def subnet_in_use(case: Case) -> str | None:
    """A subnet with interfaces in it."""
    id = case.given["SubnetId"]
    users = [*_interfaces(case, "subnet-id", id), *_without_interfaces(case, id, "SubnetIds", "subnetIds")]
    return f"The subnet '{id}' has dependencies and cannot be deleted: {users[0]}" if users else None


@rule("ec2.delete_security_group", "DependencyViolation", "GroupId", _SOURCE, live=True)
def group_in_use(case: Case) -> str | None:
    """A group on an interface, or in a rule of another group."""
    id = case.given["GroupId"]
    users = [
        *_interfaces(case, "group-id", id),
        *_without_interfaces(case, id, "VpcSecurityGroupIds", "securityGroupIds"),
        *_rules(case, id),
    ]
    return f"resource {id} has a dependent object: {users[0]}" if users else None


def _interfaces(case: Case, name: str, id: str) -> Iterator[str]:
    wanted = [{"Name": name, "Values": [id]}]
    for one in case.aws.call("ec2", "describe_network_interfaces", Filters=wanted)["NetworkInterfaces"]:
        yield f"{one['NetworkInterfaceId']} {one.get('Description', '')}".strip()


def _without_interfaces(case: Case, id: str, of_instance: str, of_cluster: str) -> Iterator[str]:
    """What has interfaces on AWS and none in moto."""
    for name in case.aws.call("eks", "list_clusters")["clusters"]:
        cluster = case.aws.call("eks", "describe_cluster", name=name)["cluster"]
        if id in (cluster["resourcesVpcConfig"].get(of_cluster) or []):
            yield f"cluster {name}"
    for system in case.aws.call("fsx", "describe_file_systems")["FileSystems"]:
        if id in (system.get("SubnetIds") or []) and of_instance == "SubnetIds":
            yield f"file system {system['FileSystemId']}"
    for instance in case.aws.call("rds", "describe_db_instances")["DBInstances"]:
        subnets = [one["SubnetIdentifier"] for one in (instance.get("DBSubnetGroup") or {}).get("Subnets", [])]
        groups = [one["VpcSecurityGroupId"] for one in instance.get("VpcSecurityGroups", [])]
        if id in (subnets if of_instance == "SubnetIds" else groups):
            yield f"database {instance['DBInstanceIdentifier']}"


def _rules(case: Case, id: str) -> Iterator[str]:
    """Rules of other groups that name this one as their source or destination."""
    for name in ("ip-permission.group-id", "egress.ip-permission.group-id"):
        wanted = [{"Name": name, "Values": [id]}]
        for group in case.aws.call("ec2", "describe_security_groups", Filters=wanted)["SecurityGroups"]:
            if group["GroupId"] != id:
                yield f"a rule of {group['GroupId']}"
