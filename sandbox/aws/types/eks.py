"""Functions of the types in eks.yaml: clusters, node groups, add-ons and access."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from sandbox.aws.client import Aws, AwsError
from sandbox.aws.mapping import Call, Inputs, Item, find
from sandbox.aws.rules.eks_cluster import VPC_DEFAULTS
from sandbox.aws.shapes import to_api
from sandbox.errors import cancelled
from sandbox.rpc.errors import ProviderError
from spec.catalog import kubernetes

# EKS clusters. Their API servers and nodes are started by the operations of EKS themselves (`moto/clusters.py`).

SERVICE = "eks"

LOOK_SECONDS = 0.2
_CHANGING = ("CREATING", "UPDATING", "DELETING")
_CLUSTER = Call("describe_cluster", target={"name": "{id}"}, item="cluster")
_LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")


def _logging(enabled: list[str]) -> dict[str, Any]:
    """AWS takes the enabled log types and the disabled ones."""
    off = [name for name in _LOG_TYPES if name not in enabled]
    parts = [{"types": list(enabled), "enabled": True}, {"types": off, "enabled": False}]
    return {"clusterLogging": [part for part in parts if part["types"]]}


def cluster_request(inputs: Inputs) -> Inputs:
    request = {"version": kubernetes.DEFAULT, **inputs, "vpcConfig": {**VPC_DEFAULTS, **inputs["vpcConfig"]}}
    request["logging"] = _logging(request.pop("enabledClusterLogTypes", []))
    return request


def await_cluster(aws: Aws, id: str, inputs: Inputs) -> None:
    """Wait until its API server runs. Raises AwsError if it does not start."""
    cluster = _settled(aws, id)
    if cluster["status"] == "FAILED":
        raise _failed(id, cluster)


def _failed(name: str, item: Item) -> AwsError:
    reason = "; ".join(str(one["message"]) for one in item["health"]["issues"])
    return AwsError(f"{SERVICE} {name}", str(item["status"]), reason)


def _settled(aws: Aws, id: str) -> dict[str, Any]:
    while True:
        cluster: dict[str, Any] = aws.call(SERVICE, "describe_cluster", name=id)["cluster"]
        if cluster["status"] not in _CHANGING:
            return cluster
        pause()


def update_version(aws: Aws, id: str, inputs: Inputs) -> None:
    """To another version; a cluster that failed is started again."""
    live = _settled(aws, id)
    wanted = str(inputs.get("version") or live["version"])
    if live["status"] == "FAILED" or wanted != live["version"]:
        aws.call(SERVICE, "update_cluster_version", name=id, version=wanted)


def read_cluster(aws: Aws, id: str, names: Inputs) -> Item | None:
    cluster = find(aws, SERVICE, _CLUSTER, {"id": id})
    if cluster is None:
        return None
    enabled = [part["types"] for part in cluster["logging"]["clusterLogging"] if part["enabled"]]
    return {
        **cluster,
        "vpcConfig": cluster["resourcesVpcConfig"],
        "enabledClusterLogTypes": [name for types in enabled for name in types],
        "encryptionConfig": cluster.get("encryptionConfig") or None,
        "identities": [{"oidcs": [cluster["identity"]["oidc"]]}],
    }


def update_vpc(aws: Aws, id: str, inputs: Inputs) -> None:
    vpc = {**VPC_DEFAULTS, **inputs["vpcConfig"]}
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
    aws.call(SERVICE, "delete_cluster", name=id)
    while find(aws, SERVICE, _CLUSTER, {"id": id}) is not None:
        pause()


def pause() -> None:
    """Between two looks at an object that changes; the answer itself waits for most of the work (`moto/live.py`)."""
    if cancelled():
        msg = "cancelled while EKS was still working"
        raise ProviderError(msg)
    time.sleep(LOOK_SECONDS)


# EKS node groups.

_GROUP = {"clusterName": "{clusterName}", "nodegroupName": "{nodeGroupName}"}
_NODE_GROUP = Call("describe_nodegroup", target=_GROUP, item="nodegroup")


def read_node_group(aws: Aws, id: str, names: Inputs) -> Item | None:
    group = find(aws, SERVICE, _NODE_GROUP, names)
    if group is None:
        return None
    update = {"updateStrategy": "DEFAULT", **(group.get("updateConfig") or {})}
    resources = {"autoscalingGroups": group["resources"]["autoScalingGroups"]}
    item = {**group, "updateConfig": update, "resources": [resources]}
    return {**item, "nodeRoleArn": group["nodeRole"], "subnetIds": group["subnets"]}


def await_node_group(aws: Aws, id: str, inputs: Inputs) -> None:
    """Wait until its nodes are there. Raises AwsError if they are not."""
    names = {**inputs, "id": id}
    while (group := _NODE_GROUP(aws, SERVICE, {}, names))["status"] in _CHANGING:
        pause()
    if group["status"] in ("CREATE_FAILED", "DEGRADED"):
        raise _failed(id, group)


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


def delete_node_group(aws: Aws, id: str, outputs: Inputs) -> None:
    aws.call(SERVICE, "delete_nodegroup", clusterName=outputs["clusterName"], nodegroupName=outputs["nodeGroupName"])
    while find(aws, SERVICE, _NODE_GROUP, outputs) is not None:
        pause()


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


def await_addon(aws: Aws, id: str, inputs: Inputs) -> None:
    """Wait until its pods are ready. Raises AwsError if they are not."""
    while (addon := _DESCRIBE_ADDON(aws, SERVICE, {}, inputs))["status"] in _CHANGING:
        pause()
    if addon["status"] != "ACTIVE":
        raise _failed(id, addon)


def update_addon(aws: Aws, id: str, inputs: Inputs) -> None:
    """An omitted list of associations removes them, and an omitted configuration is emptied: the AWS provider sends
    both whole (hashicorp/terraform-provider-aws, internal/service/eks/addon.go)."""
    sent = {name: inputs[name] for name in _CHANGEABLE if inputs.get(name) is not None}
    on_conflict = inputs.get("resolveConflictsOnUpdate")
    conflicts = {"resolveConflicts": on_conflict} if on_conflict else {}
    empty = {"configurationValues": "", "podIdentityAssociations": []}
    Call("update_addon", _ADDON)(aws, SERVICE, {**empty, **sent, **conflicts}, inputs)


def delete_addon(aws: Aws, id: str, outputs: Inputs) -> None:
    preserve = outputs.get("preserve") in (True, "true")
    names = {"clusterName": outputs["clusterName"], "addonName": outputs["addonName"]}
    aws.call(SERVICE, "delete_addon", **names, preserve=preserve)
    while (addon := find(aws, SERVICE, _DESCRIBE_ADDON, names)) is not None:
        if addon["status"] == "DELETE_FAILED":
            raise _failed(id, addon)
        pause()


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
