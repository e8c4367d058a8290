"""Everything in a stack's account in moto, listed like any AWS client would."""

from collections.abc import Mapping
from typing import Any, Final

import boto3
import jmespath  # type: ignore[import-untyped]

_THERE: Final = """!contains(`["deleted", "deleting", "Deleted", "Deleting"]`, State)"""
LISTED: Final[Mapping[str, tuple[str, str, str]]] = {
    # The default VPC with its subnets, groups and routes, which every account has, is not listed.
    "VPCs": ("ec2", "describe_vpcs", "Vpcs[?!IsDefault].VpcId"),
    "subnets": ("ec2", "describe_subnets", "Subnets[?!DefaultForAz].SubnetId"),
    "NAT gateways": ("ec2", "describe_nat_gateways", f"NatGateways[?{_THERE}].NatGatewayId"),
    "addresses": ("ec2", "describe_addresses", "Addresses[].AllocationId"),
    "endpoints": ("ec2", "describe_vpc_endpoints", f"VpcEndpoints[?{_THERE}].VpcEndpointId"),
    "internet gateways": ("ec2", "describe_internet_gateways", "InternetGateways[].InternetGatewayId"),
    "flow logs": ("ec2", "describe_flow_logs", "FlowLogs[].FlowLogId"),
    "launch templates": ("ec2", "describe_launch_templates", "LaunchTemplates[].LaunchTemplateName"),
    "security groups": ("ec2", "describe_security_groups", "SecurityGroups[?GroupName!='default'].GroupId"),
    "clusters": ("eks", "list_clusters", "clusters"),
    "roles": ("iam", "list_roles", "Roles[].RoleName"),
    "policies": ("iam", "list_policies", "Policies[].Arn"),
    "instance profiles": ("iam", "list_instance_profiles", "InstanceProfiles[].InstanceProfileName"),
    "OIDC providers": ("iam", "list_open_id_connect_providers", "OpenIDConnectProviderList[].Arn"),
    "log groups": ("logs", "describe_log_groups", "logGroups[].logGroupName"),
    "buckets": ("s3", "list_buckets", "Buckets[].Name"),
    "EFS file systems": ("efs", "describe_file_systems", "FileSystems[].FileSystemId"),
    "FSx file systems": ("fsx", "describe_file_systems", "FileSystems[].FileSystemId"),
    "databases": ("rds", "describe_db_instances", "DBInstances[].DBInstanceIdentifier"),
    "final snapshots": (
        "rds",
        "describe_db_snapshots",
        "DBSnapshots[?SnapshotType=='manual'].join(' ', [DBSnapshotIdentifier, KmsKeyId])",
    ),
    "secrets": ("secretsmanager", "list_secrets", "SecretList[].Name"),
    "repositories": ("ecr", "describe_repositories", "repositories[].repositoryName"),
    "queues": ("sqs", "list_queues", "QueueUrls"),
    "rules": ("events", "list_rules", "Rules[].Name"),
    "aliases": ("kms", "list_aliases", "Aliases[?!starts_with(AliasName, 'alias/aws/')].AliasName"),
    "keys": ("kms", "list_keys", "Keys[].KeyId"),
}
"""Service, operation, and the JMESPath of the names in its answer."""
_ARGUMENTS: Final[Mapping[str, Mapping[str, str]]] = {"policies": {"Scope": "Local"}}


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
    names_by_kind = {kind: _names(kind, client(LISTED[kind][0], variables)) for kind in kinds or LISTED}
    return {kind: names for kind, names in names_by_kind.items() if names}


def _names(kind: str, aws: Any) -> list[str]:
    _, operation, path = LISTED[kind]
    names = sorted(jmespath.search(path, getattr(aws, operation)(**_ARGUMENTS.get(kind, {}))) or ())
    # AWS deletes a key after a waiting period: until then it is pending deletion.
    return [name for name in names if kind != "keys" or _exists(aws, name)]


def _exists(kms: Any, key: str) -> bool:
    return bool(kms.describe_key(KeyId=key)["KeyMetadata"]["KeyState"] != "PendingDeletion")


def unneeded(found: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """What is left of a destroyed stack, but final snapshots and the keys that they are read with."""
    needed = {one.rpartition("/")[2] for one in found.get("final snapshots", ())}
    rest = {**found, "keys": [key for key in found.get("keys", ()) if key not in needed]}
    unreadable = needed - set(found.get("keys", ()))
    snapshots = [one for one in found.get("final snapshots", ()) if one.rpartition("/")[2] in unreadable]
    return {kind: names for kind, names in {**rest, "final snapshots": snapshots}.items() if names}
