"""Everything in a stack's account in moto, listed like any AWS client would."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import boto3

Lister = Callable[[Any], list[str]]


def vpcs(ec2: Any) -> list[str]:
    """Without the default VPC."""
    return [vpc["VpcId"] for vpc in ec2.describe_vpcs()["Vpcs"] if not vpc["IsDefault"]]


LISTED: Final[Mapping[str, tuple[str, Lister]]] = {
    # The default VPC with its subnets, groups and routes, which every account has, is not listed.
    "VPCs": ("ec2", vpcs),
    "subnets": ("ec2", lambda c: [s["SubnetId"] for s in c.describe_subnets()["Subnets"] if not s["DefaultForAz"]]),
    "NAT gateways": ("ec2", lambda c: _existing(c.describe_nat_gateways()["NatGateways"], "NatGatewayId", "State")),
    "addresses": ("ec2", lambda c: [a["AllocationId"] for a in c.describe_addresses()["Addresses"]]),
    "endpoints": ("ec2", lambda c: _existing(c.describe_vpc_endpoints()["VpcEndpoints"], "VpcEndpointId", "State")),
    "internet gateways": (
        "ec2",
        lambda c: [g["InternetGatewayId"] for g in c.describe_internet_gateways()["InternetGateways"]],
    ),
    "flow logs": ("ec2", lambda c: [log["FlowLogId"] for log in c.describe_flow_logs()["FlowLogs"]]),
    "launch templates": (
        "ec2",
        lambda c: [t["LaunchTemplateName"] for t in c.describe_launch_templates()["LaunchTemplates"]],
    ),
    "security groups": (
        "ec2",
        lambda c: [g["GroupId"] for g in c.describe_security_groups()["SecurityGroups"] if g["GroupName"] != "default"],
    ),
    "clusters": ("eks", lambda c: c.list_clusters()["clusters"]),
    "roles": ("iam", lambda c: [role["RoleName"] for role in c.list_roles()["Roles"]]),
    "policies": ("iam", lambda c: [policy["Arn"] for policy in c.list_policies(Scope="Local")["Policies"]]),
    "instance profiles": (
        "iam",
        lambda c: [profile["InstanceProfileName"] for profile in c.list_instance_profiles()["InstanceProfiles"]],
    ),
    "OIDC providers": (
        "iam",
        lambda c: [one["Arn"] for one in c.list_open_id_connect_providers()["OpenIDConnectProviderList"]],
    ),
    "log groups": ("logs", lambda c: [group["logGroupName"] for group in c.describe_log_groups()["logGroups"]]),
    "buckets": ("s3", lambda c: [bucket["Name"] for bucket in c.list_buckets()["Buckets"]]),
    "EFS file systems": ("efs", lambda c: [one["FileSystemId"] for one in c.describe_file_systems()["FileSystems"]]),
    "FSx file systems": ("fsx", lambda c: [one["FileSystemId"] for one in c.describe_file_systems()["FileSystems"]]),
    "databases": ("rds", lambda c: [one["DBInstanceIdentifier"] for one in c.describe_db_instances()["DBInstances"]]),
    "final snapshots": (
        "rds",
        lambda c: [
            f"{one['DBSnapshotIdentifier']} {one['KmsKeyId']}"
            for one in c.describe_db_snapshots(SnapshotType="manual")["DBSnapshots"]
        ],
    ),
    "secrets": ("secretsmanager", lambda c: [one["Name"] for one in c.list_secrets()["SecretList"]]),
    "repositories": ("ecr", lambda c: [one["repositoryName"] for one in c.describe_repositories()["repositories"]]),
    "queues": ("sqs", lambda c: c.list_queues().get("QueueUrls", [])),
    "rules": ("events", lambda c: [rule["Name"] for rule in c.list_rules()["Rules"]]),
    "aliases": (
        "kms",
        lambda c: [a["AliasName"] for a in c.list_aliases()["Aliases"] if not a["AliasName"].startswith("alias/aws/")],
    ),
    # AWS deletes a key after a waiting period: until then it is pending deletion.
    "keys": (
        "kms",
        lambda c: [
            key["KeyId"]
            for key in c.list_keys()["Keys"]
            if c.describe_key(KeyId=key["KeyId"])["KeyMetadata"]["KeyState"] != "PendingDeletion"
        ],
    ),
}


def _existing(objects: list[dict[str, Any]], name: str, state: str) -> list[str]:
    return [one[name] for one in objects if one[state].lower() not in ("deleted", "deleting")]


def client(service: str, variables: Mapping[str, str]) -> Any:
    """A boto3 client of the sandbox, with the variables of `slipway sandbox env`."""
    return boto3.client(
        service,
        endpoint_url=variables["AWS_ENDPOINT_URL"],
        region_name=variables["AWS_REGION"],
        aws_access_key_id=variables["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=variables["AWS_SECRET_ACCESS_KEY"],
        aws_session_token=variables["AWS_SESSION_TOKEN"],
    )


def contents(variables: Mapping[str, str], *kinds: str) -> dict[str, list[str]]:
    """The objects in the account of a stack, of these kinds or of all; kinds without objects are left out."""
    listed = {kind: LISTED[kind] for kind in kinds or LISTED}
    clients = {service: client(service, variables) for service in {service for service, _ in listed.values()}}
    names_by_kind = {kind: sorted(lister(clients[service])) for kind, (service, lister) in listed.items()}
    return {kind: names for kind, names in names_by_kind.items() if names}


def unneeded(found: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """What is left of a destroyed stack, but final snapshots and the keys that they are read with."""
    needed = {one.rpartition("/")[2] for one in found.get("final snapshots", ())}
    rest = {**found, "keys": [key for key in found.get("keys", ()) if key not in needed]}
    unreadable = needed - set(found.get("keys", ()))
    snapshots = [one for one in found.get("final snapshots", ()) if one.rpartition("/")[2] in unreadable]
    return {kind: names for kind, names in {**rest, "final snapshots": snapshots}.items() if names}
