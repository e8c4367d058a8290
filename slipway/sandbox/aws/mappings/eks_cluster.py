"""EKS clusters: the object in moto, its security group, and the API server behind its endpoint.

Source of the changes that force a new cluster: hashicorp/terraform-provider-aws internal/service/eks/cluster.go, read
2026-11. Moto 5.2.5 has UpdateClusterConfig for the VPC configuration, logging and remote networks, and `moto/eks.py`
adds the authentication mode and UpdateClusterVersion; other updates are only recorded.
"""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001, ARG005

from __future__ import annotations

import hashlib
from typing import Any

from slipway.sandbox.aws.client import Aws, AwsError
from slipway.sandbox.aws.mapping import ALWAYS, Call, Inputs, Item, ResourceMapping, Setting, Tags, find
from spec.catalog import kubernetes

SERVICE = "eks"
DEFAULT_VERSION = kubernetes.DEFAULT
"""Version of a cluster that names none."""

_DELETE = "eks delete_cluster"
_DESCRIBE = Call("describe_cluster", target={"name": "{id}"}, item="cluster")
_LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")
_VPC_DEFAULTS = {"endpointPublicAccess": True, "endpointPrivateAccess": False, "publicAccessCidrs": ["0.0.0.0/0"]}
_OWNER_TAG = "aws:eks:cluster-name"


def _logging(enabled: list[str]) -> dict[str, Any]:
    """AWS takes the enabled log types and the disabled ones."""
    off = [name for name in _LOG_TYPES if name not in enabled]
    parts = [{"types": list(enabled), "enabled": True}, {"types": off, "enabled": False}]
    return {"clusterLogging": [part for part in parts if part["types"]]}


def _request(inputs: Inputs) -> Inputs:
    request = {"version": DEFAULT_VERSION, **inputs, "vpcConfig": {**_VPC_DEFAULTS, **inputs["vpcConfig"]}}
    request["logging"] = _logging(request.pop("enabledClusterLogTypes", []))
    return request


def _security_groups(aws: Aws, cluster: str) -> list[dict[str, Any]]:
    mine = [{"Name": f"tag:{_OWNER_TAG}", "Values": [cluster]}]
    return list(aws.call("ec2", "describe_security_groups", Filters=mine)["SecurityGroups"])


def _make_security_group(aws: Aws, id: str, inputs: Inputs) -> None:
    """The group that EKS assigns to the control plane's interfaces and to managed nodes, which may reach each other."""
    if _security_groups(aws, id):
        return
    subnet = aws.call("ec2", "describe_subnets", SubnetIds=[inputs["vpcConfig"]["subnetIds"][0]])["Subnets"][0]
    digits = int(hashlib.sha256(f"{aws.account}/{aws.region}/{id}".encode()).hexdigest()[:8], 16)
    name = f"eks-cluster-sg-{id}-{digits}"
    owner = [{"Key": _OWNER_TAG, "Value": id}, {"Key": "Name", "Value": name}]
    group = aws.call(
        "ec2",
        "create_security_group",
        GroupName=name,
        Description="EKS created security group applied to ENI that is attached to EKS Control Plane master nodes, "
        "as well as any managed workloads.",
        VpcId=subnet["VpcId"],
        TagSpecifications=[{"ResourceType": "security-group", "Tags": owner}],
    )["GroupId"]
    itself = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    aws.call("ec2", "authorize_security_group_ingress", GroupId=group, IpPermissions=itself)


def _start(aws: Aws, id: str, inputs: Inputs) -> None:
    if aws.clusters is not None:
        aws.clusters.create(id, str(inputs.get("version") or DEFAULT_VERSION))


def _read(aws: Aws, id: str, names: Inputs) -> Item | None:
    cluster = find(aws, SERVICE, _DESCRIBE, {"id": id})
    if cluster is None:
        return None
    vpc = dict(cluster["resourcesVpcConfig"])
    groups = _security_groups(aws, id)
    if groups:
        vpc |= {"clusterSecurityGroupId": groups[0]["GroupId"], "vpcId": groups[0]["VpcId"]}
    enabled = [part["types"] for part in cluster["logging"]["clusterLogging"] if part["enabled"]]
    item = {
        **cluster,
        "vpcConfig": vpc,
        "enabledClusterLogTypes": [name for types in enabled for name in types],
        "encryptionConfig": cluster.get("encryptionConfig") or None,
        # Moto gives every cluster of a process the same issuer.
        "identities": [{"oidcs": [{"issuer": _issuer(aws, id)}]}],
    }
    endpoint = aws.clusters.get(id) if aws.clusters is not None else None
    if endpoint is not None:
        item["endpoint"] = endpoint.server
        item["certificateAuthority"] = {"data": endpoint.certificate_authority}
    return item


def _issuer(aws: Aws, cluster: str) -> str:
    digest = hashlib.sha256(f"{aws.account}/{aws.region}/{cluster}".encode()).hexdigest()[:32].upper()
    return f"https://oidc.eks.{aws.region}.amazonaws.com/id/{digest}"


def _update_vpc(aws: Aws, id: str, inputs: Inputs) -> None:
    vpc = {**_VPC_DEFAULTS, **inputs["vpcConfig"]}
    update = Call("update_cluster_config", {"name": "{id}"}, rename={"vpcConfig": "resourcesVpcConfig"})
    update(aws, SERVICE, {"vpcConfig": vpc}, {"id": id})


def _update_logging(aws: Aws, id: str, inputs: Inputs) -> None:
    enabled = inputs.get("enabledClusterLogTypes") or []
    aws.call(SERVICE, "update_cluster_config", name=id, logging=_logging(enabled))


def _update_access(aws: Aws, id: str, inputs: Inputs) -> None:
    mode = (inputs.get("accessConfig") or {}).get("authenticationMode")
    if mode:
        aws.call(SERVICE, "update_cluster_config", name=id, accessConfig={"authenticationMode": mode})


def _delete(aws: Aws, id: str, outputs: Inputs) -> None:
    if outputs.get("deletionProtection") in (True, "true"):
        msg = f"cluster {id} has deletion protection: set deletionProtection to false and run `up` first"
        raise AwsError(_DELETE, "InvalidRequestException", msg)
    aws.call(SERVICE, "delete_cluster", name=id)
    if aws.clusters is not None:
        aws.clusters.delete(id)
    for group in _security_groups(aws, id):
        aws.call("ec2", "delete_security_group", GroupId=group["GroupId"])


CLUSTER = ResourceMapping(
    "aws:eks/cluster:Cluster",
    SERVICE,
    create=Call(
        "create_cluster",
        rename={"vpcConfig": "resourcesVpcConfig"},
        adapt=_request,
        omit=frozenset({"defaultAddonsToRemoves", "forceUpdateVersion"}),
    ),
    id="cluster.name",
    read=_read,
    delete=_delete,
    force_new=frozenset(
        {
            "accessConfig.bootstrapClusterCreatorAdminPermissions",
            "bootstrapSelfManagedAddons",
            "name",
            "roleArn",
            "kubernetesNetworkConfig.ipFamily",
            "kubernetesNetworkConfig.serviceIpv4Cidr",
            "outpostConfig.controlPlaneInstanceType",
            "outpostConfig.controlPlanePlacement",
        }
    ),
    # Envelope encryption can't be turned off again.
    replace_if=lambda path, old, new: path == "encryptionConfig" and "encryptionConfig" not in new,
    settings=(
        Setting((ALWAYS,), _make_security_group),
        # Before the API server restarts with it.
        Setting(("version",), Call("update_cluster_version", {"name": "{id}"}), at_create=False),
        Setting((ALWAYS,), _start),
        Setting(("vpcConfig",), _update_vpc, at_create=False),
        Setting(("enabledClusterLogTypes",), _update_logging, at_create=False),
        Setting(("accessConfig",), _update_access, at_create=False),
        Setting(("remoteNetworkConfig",), Call("update_cluster_config", {"name": "{id}"}), at_create=False),
    ),
    tags=Tags("tag_resource", "untag_resource", {"resourceArn": "{arn}"}),
    name_limit=100,
    computed={"clusterId": "{id}"},
    defaults={"enabledClusterLogTypes": []},
    drift=("vpcConfig", "enabledClusterLogTypes", "roleArn"),
)

MAPPINGS = (CLUSTER,)
