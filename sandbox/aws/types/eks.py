"""Functions of the types in eks.yaml: clusters, node groups, add-ons and access."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from sandbox.aws.client import Aws, AwsError
from sandbox.aws.mapping import Call, Inputs, Item, find
from sandbox.aws.shapes import to_api
from sandbox.aws.types import capacity
from spec.catalog import kubernetes

# EKS clusters: the object in moto, its security group, and the API server behind its endpoint.

SERVICE = "eks"
DEFAULT_VERSION = kubernetes.DEFAULT
"""Version of a cluster that names none."""

_DELETE = "eks delete_cluster"
_CLUSTER = Call("describe_cluster", target={"name": "{id}"}, item="cluster")
_LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")
_VPC_DEFAULTS = {"endpointPublicAccess": True, "endpointPrivateAccess": False, "publicAccessCidrs": ["0.0.0.0/0"]}
_OWNER_TAG = "aws:eks:cluster-name"


def _logging(enabled: list[str]) -> dict[str, Any]:
    """AWS takes the enabled log types and the disabled ones."""
    off = [name for name in _LOG_TYPES if name not in enabled]
    parts = [{"types": list(enabled), "enabled": True}, {"types": off, "enabled": False}]
    return {"clusterLogging": [part for part in parts if part["types"]]}


def cluster_request(inputs: Inputs) -> Inputs:
    request = {"version": DEFAULT_VERSION, **inputs, "vpcConfig": {**_VPC_DEFAULTS, **inputs["vpcConfig"]}}
    request["logging"] = _logging(request.pop("enabledClusterLogTypes", []))
    return request


def _security_groups(aws: Aws, cluster: str) -> list[dict[str, Any]]:
    mine = [{"Name": f"tag:{_OWNER_TAG}", "Values": [cluster]}]
    return list(aws.call("ec2", "describe_security_groups", Filters=mine)["SecurityGroups"])


def make_security_group(aws: Aws, id: str, inputs: Inputs) -> None:
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


def start_cluster(aws: Aws, id: str, inputs: Inputs) -> None:
    if aws.clusters is not None:
        made = (find(aws, SERVICE, _CLUSTER, {"id": id}) or {}).get("createdAt")
        aws.clusters.create(id, str(inputs.get("version") or DEFAULT_VERSION), str(made or ""))


def read_cluster(aws: Aws, id: str, names: Inputs) -> Item | None:
    cluster = find(aws, SERVICE, _CLUSTER, {"id": id})
    if cluster is None:
        # Deleted by other means than the program, unless it is to be imported: its objects are gone with it.
        if aws.clusters is not None and "endpoint" in names:
            aws.clusters.delete(id)
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


def update_vpc(aws: Aws, id: str, inputs: Inputs) -> None:
    vpc = {**_VPC_DEFAULTS, **inputs["vpcConfig"]}
    update = Call("update_cluster_config", {"name": "{id}"}, rename={"vpcConfig": "resourcesVpcConfig"})
    update(aws, SERVICE, {"vpcConfig": vpc}, {"id": id})


def update_logging(aws: Aws, id: str, inputs: Inputs) -> None:
    enabled = inputs.get("enabledClusterLogTypes") or []
    aws.call(SERVICE, "update_cluster_config", name=id, logging=_logging(enabled))


def update_access(aws: Aws, id: str, inputs: Inputs) -> None:
    mode = (inputs.get("accessConfig") or {}).get("authenticationMode")
    if mode:
        aws.call(SERVICE, "update_cluster_config", name=id, accessConfig={"authenticationMode": mode})


def delete_cluster(aws: Aws, id: str, outputs: Inputs) -> None:
    if outputs.get("deletionProtection") in (True, "true"):
        msg = f"cluster {id} has deletion protection: set deletionProtection to false and run `up` first"
        raise AwsError(_DELETE, "InvalidRequestException", msg)
    try:
        aws.call(SERVICE, "delete_cluster", name=id)
    except AwsError as error:
        if not error.not_found:
            raise
    if aws.clusters is not None:
        aws.clusters.delete(id)
    for group in _security_groups(aws, id):
        aws.call("ec2", "delete_security_group", GroupId=group["GroupId"])


# EKS node groups; after each change the observer updates their Node objects.

_GROUP = {"clusterName": "{clusterName}", "nodegroupName": "{nodeGroupName}"}
_NODE_GROUP = Call("describe_nodegroup", target=_GROUP, item="nodegroup")


def read_node_group(aws: Aws, id: str, names: Inputs) -> Item | None:
    group = find(aws, SERVICE, _NODE_GROUP, names)
    if group is None:
        return None
    # Moto's defaults for these are from 2021; AWS uses the cluster's version.
    item = {key: value for key, value in group.items() if key not in ("releaseVersion", "remoteAccess")}
    item["version"] = names.get("version")
    if item["version"] is None:
        cluster = find(aws, SERVICE, Call("describe_cluster", {"name": "{clusterName}"}, item="cluster"), names)
        item["version"] = (cluster or {}).get("version")
    update = {"updateStrategy": "DEFAULT", **(group.get("updateConfig") or {})}
    resources = {"autoscalingGroups": group["resources"]["autoScalingGroups"]}
    item |= {"updateConfig": update, "resources": [resources]}
    return {**item, "nodeRoleArn": group["nodeRole"], "subnetIds": group["subnets"]}


def configure_node_group(aws: Aws, id: str, inputs: Inputs) -> None:
    """Send sizes and update settings; for labels and taints AWS takes what to set and what to remove."""
    names = {**inputs, "id": id}
    live = find(aws, SERVICE, _NODE_GROUP, names) or {}
    shape = aws.input_shape(SERVICE, "update_nodegroup_config")
    kept = ("scalingConfig", "updateConfig", "nodeRepairConfig")
    parameters = to_api(shape, {name: inputs[name] for name in kept if name in inputs})
    parameters["labels"] = _label_changes(live.get("labels") or {}, inputs.get("labels") or {})
    wanted = to_api(shape, {"taints": {"addOrUpdateTaints": inputs.get("taints") or []}})["taints"]
    parameters["taints"] = _taint_changes(live.get("taints") or [], wanted["addOrUpdateTaints"])
    group = {"clusterName": inputs["clusterName"], "nodegroupName": inputs["nodeGroupName"]}
    aws.call(SERVICE, "update_nodegroup_config", **group, **{k: v for k, v in parameters.items() if v})


def _label_changes(live: Mapping[str, str], wanted: Mapping[str, str]) -> dict[str, Any]:
    changes = {"addOrUpdateLabels": dict(wanted), "removeLabels": sorted(set(live) - set(wanted))}
    return {key: value for key, value in changes.items() if value}


def _taint_changes(live: list[dict[str, str]], wanted: list[dict[str, str]]) -> dict[str, Any]:
    """Key and effect identify a taint."""
    kept = {(taint["key"], taint["effect"]) for taint in wanted}
    removed = [taint for taint in live if (taint["key"], taint["effect"]) not in kept]
    return {key: value for key, value in {"addOrUpdateTaints": wanted, "removeTaints": removed}.items() if value}


def roll_node_group(aws: Aws, id: str, inputs: Inputs) -> None:
    """EKS replaces the nodes one by one with nodes of the new version."""
    force = {"force": inputs["forceUpdateVersion"] in (True, "true")} if "forceUpdateVersion" in inputs else {}
    part = {name: inputs[name] for name in ("launchTemplate", "version") if inputs.get(name)}
    group = {"clusterName": inputs["clusterName"], "nodegroupName": inputs["nodeGroupName"]}
    Call("update_nodegroup_version", group, force)(aws, SERVICE, part, {})


def observe_node_group(aws: Aws, id: str, inputs: Inputs) -> None:
    if aws.nodes is not None:
        template = capacity.in_use(aws, inputs.get("launchTemplate"))
        aws.nodes.node_group_changed(inputs["clusterName"], inputs["nodeGroupName"], inputs, template)


def delete_node_group(aws: Aws, id: str, outputs: Inputs) -> None:
    cluster, group = outputs["clusterName"], outputs["nodeGroupName"]
    try:
        aws.call(SERVICE, "delete_nodegroup", clusterName=cluster, nodegroupName=group)
    finally:
        if aws.nodes is not None:
            aws.nodes.node_group_deleted(cluster, group)


def adds_or_removes_template(path: str, old: Inputs, new: Inputs) -> bool:
    return path == "launchTemplate" and ("launchTemplate" in old) != ("launchTemplate" in new)


def turns_off_encryption(path: str, old: Inputs, new: Inputs) -> bool:
    return path == "encryptionConfig" and "encryptionConfig" not in new


# EKS add-ons, in moto with the operations of `moto/eks.py`.

_ADDON = {"clusterName": "{clusterName}", "addonName": "{addonName}"}
_DESCRIBE_ADDON = Call("describe_addon", target=_ADDON, item="addon")
_CHANGEABLE = ("addonVersion", "configurationValues", "podIdentityAssociations", "serviceAccountRoleArn")


def read_addon(aws: Aws, id: str, names: Inputs) -> Item | None:
    """The add-on; its associations with their roles, of which AWS's answer has only the ARNs."""
    addon = find(aws, SERVICE, _DESCRIBE_ADDON, names)
    if addon is None:
        return None
    roles = []
    for arn in addon.get("podIdentityAssociations") or []:
        one = aws.call(
            SERVICE, "describe_pod_identity_association", clusterName=names["clusterName"],
            associationId=arn.rpartition("/")[2],
        )["association"]  # fmt: skip
        roles.append({"roleArn": one["roleArn"], "serviceAccount": one["serviceAccount"]})
    return {**addon, "podIdentityAssociations": roles}


def update_addon(aws: Aws, id: str, inputs: Inputs) -> None:
    """An omitted list of associations removes them: the AWS provider sends the whole list."""
    sent = {name: inputs[name] for name in _CHANGEABLE if inputs.get(name) is not None}
    on_conflict = inputs.get("resolveConflictsOnUpdate")
    conflicts = {"resolveConflicts": on_conflict} if on_conflict else {}
    Call("update_addon", _ADDON)(aws, SERVICE, {"podIdentityAssociations": [], **sent, **conflicts}, inputs)


def delete_addon(aws: Aws, id: str, outputs: Inputs) -> None:
    preserve = outputs.get("preserve") in (True, "true")
    names = {"clusterName": outputs["clusterName"], "addonName": outputs["addonName"]}
    aws.call(SERVICE, "delete_addon", **names, preserve=preserve)


# Who may use a cluster: EKS access entries, their access policies, and Pod Identity associations.

_ENTRY = {"clusterName": "{clusterName}", "principalArn": "{principalArn}"}


def read_access_policy(aws: Aws, id: str, names: Inputs) -> Item | None:
    listed = find(aws, SERVICE, Call("list_associated_access_policies", _ENTRY), names) or {}
    for policy in listed.get("associatedAccessPolicies", []):
        if policy["policyArn"] == names["policyArn"]:
            return {**policy, "clusterName": names["clusterName"], "principalArn": names["principalArn"]}
    return None


_ASSOCIATION = {"clusterName": "{clusterName}", "associationId": "{id}"}


def read_pod_identity(aws: Aws, id: str, names: Inputs) -> Item | None:
    """At an import the cluster is not known: ids are unique, so any cluster may have it."""
    known = names.get("clusterName")
    describe = Call("describe_pod_identity_association", _ASSOCIATION, item="association")
    for cluster in [known] if known else aws.call(SERVICE, "list_clusters")["clusters"]:
        found = find(aws, SERVICE, describe, {"clusterName": cluster, "id": id})
        if found is not None:
            return found
    return None
