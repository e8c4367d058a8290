"""EKS node groups; after each change the observer updates their Node objects.

Source of the changes that force a new group: hashicorp/terraform-provider-aws internal/service/eks/node_group.go, read
2026-11. Moto 5.2.5 has UpdateNodegroupConfig, and `moto/eks.py` adds UpdateNodegroupVersion for versions of Kubernetes
and of the launch template; a new version of the AMI and new tags are only recorded.
"""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import ALWAYS, Call, Inputs, Item, ResourceMapping, Setting, find
from slipway.sandbox.aws.mappings import launch_templates
from slipway.sandbox.aws.mappings.eks_cluster import SERVICE
from slipway.sandbox.aws.shapes import to_api

_GROUP = {"clusterName": "{clusterName}", "nodegroupName": "{nodeGroupName}"}
_DESCRIBE = Call("describe_nodegroup", target=_GROUP, item="nodegroup")


def _read(aws: Aws, id: str, names: Inputs) -> Item | None:
    group = find(aws, SERVICE, _DESCRIBE, names)
    if group is None:
        return None
    # Moto's defaults for these are from 2021; AWS uses the cluster's version.
    item = {key: value for key, value in group.items() if key not in ("releaseVersion", "remoteAccess")}
    item["version"] = names.get("version")
    if item["version"] is None:
        cluster = find(aws, SERVICE, Call("describe_cluster", {"name": "{clusterName}"}, item="cluster"), names)
        item["version"] = (cluster or {}).get("version")
    resources = {"autoscalingGroups": group["resources"]["autoScalingGroups"]}
    return {**item, "resources": [resources], "nodeRoleArn": group["nodeRole"], "subnetIds": group["subnets"]}


def _configure(aws: Aws, id: str, inputs: Inputs) -> None:
    """Send sizes and update settings; for labels and taints AWS takes what to set and what to remove."""
    names = {**inputs, "id": id}
    live = find(aws, SERVICE, _DESCRIBE, names) or {}
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


def _roll(aws: Aws, id: str, inputs: Inputs) -> None:
    """EKS replaces the nodes one by one with nodes of the new version."""
    force = {"force": inputs["forceUpdateVersion"] in (True, "true")} if "forceUpdateVersion" in inputs else {}
    part = {name: inputs[name] for name in ("launchTemplate", "version") if inputs.get(name)}
    group = {"clusterName": inputs["clusterName"], "nodegroupName": inputs["nodeGroupName"]}
    Call("update_nodegroup_version", group, force)(aws, SERVICE, part, {})


def _observe(aws: Aws, id: str, inputs: Inputs) -> None:
    if aws.nodes is not None:
        template = launch_templates.in_use(aws, inputs.get("launchTemplate"))
        aws.nodes.node_group_changed(inputs["clusterName"], inputs["nodeGroupName"], inputs, template)


def _delete(aws: Aws, id: str, outputs: Inputs) -> None:
    cluster, group = outputs["clusterName"], outputs["nodeGroupName"]
    try:
        aws.call(SERVICE, "delete_nodegroup", clusterName=cluster, nodegroupName=group)
    finally:
        if aws.nodes is not None:
            aws.nodes.node_group_deleted(cluster, group)


def _adds_or_removes_template(path: str, old: Inputs, new: Inputs) -> bool:
    return path == "launchTemplate" and ("launchTemplate" in old) != ("launchTemplate" in new)


NODE_GROUP = ResourceMapping(
    "aws:eks/nodeGroup:NodeGroup",
    SERVICE,
    create=Call(
        "create_nodegroup",
        rename={"nodeGroupName": "nodegroupName", "nodeRoleArn": "nodeRole", "subnetIds": "subnets"},
        omit=frozenset({"forceUpdateVersion", "nodeGroupNamePrefix"}),
    ),
    id="{clusterName}:{nodeGroupName}",
    read=_read,
    delete=_delete,
    force_new=frozenset(
        {
            "amiType",
            "capacityType",
            "clusterName",
            "diskSize",
            "instanceTypes",
            "launchTemplate.id",
            "launchTemplate.name",
            "nodeGroupName",
            "nodeGroupNamePrefix",
            "nodeRoleArn",
            "remoteAccess",
            "subnetIds",
        }
    ),
    # A launch template can't be added to a group or removed from it.
    replace_if=_adds_or_removes_template,
    settings=(
        # At creation too: moto's CreateNodegroup ignores the update settings.
        Setting(("scalingConfig", "updateConfig", "nodeRepairConfig", "labels", "taints"), _configure),
        Setting(("launchTemplate", "version"), _roll, at_create=False),
        Setting((ALWAYS,), _observe),
    ),
    name="nodeGroupName",
    name_limit=63,
    from_item={"arn": "nodegroupArn"},
    defaults={"labels": {}, "taints": []},
    drift=("scalingConfig", "labels", "taints", "updateConfig", "instanceTypes", "amiType", "capacityType"),
)

MAPPINGS = (NODE_GROUP,)
