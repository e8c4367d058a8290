"""EKS add-ons, in moto with the operations of `moto/eks.py`.

`ADDON` is the whole entry point: `create` and the setting `_update` are sent, `_read` compares, `_delete` removes.

Source of the changes that force a new add-on: hashicorp/terraform-provider-aws internal/service/eks/addon.go, read
2026-11.
"""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import Call, Inputs, Item, ResourceMapping, Setting, Tags, find
from slipway.sandbox.aws.mappings.eks_cluster import SERVICE

_ADDON = {"clusterName": "{clusterName}", "addonName": "{addonName}"}
_DESCRIBE = Call("describe_addon", target=_ADDON, item="addon")
_CHANGEABLE = ("addonVersion", "configurationValues", "podIdentityAssociations", "serviceAccountRoleArn")


def _read(aws: Aws, id: str, names: Inputs) -> Item | None:
    """The add-on; its associations with their roles, of which AWS's answer has only the ARNs."""
    addon = find(aws, SERVICE, _DESCRIBE, names)
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


def _update(aws: Aws, id: str, inputs: Inputs) -> None:
    """An omitted list of associations removes them: the AWS provider sends the whole list."""
    sent = {name: inputs[name] for name in _CHANGEABLE if inputs.get(name) is not None}
    on_conflict = inputs.get("resolveConflictsOnUpdate")
    conflicts = {"resolveConflicts": on_conflict} if on_conflict else {}
    Call("update_addon", _ADDON)(aws, SERVICE, {"podIdentityAssociations": [], **sent, **conflicts}, inputs)


def _delete(aws: Aws, id: str, outputs: Inputs) -> None:
    preserve = outputs.get("preserve") in (True, "true")
    names = {"clusterName": outputs["clusterName"], "addonName": outputs["addonName"]}
    aws.call(SERVICE, "delete_addon", **names, preserve=preserve)


ADDON = ResourceMapping(
    "aws:eks/addon:Addon",
    SERVICE,
    create=Call(
        "create_addon",
        rename={"resolveConflictsOnCreate": "resolveConflicts"},
        omit=frozenset({"resolveConflictsOnUpdate", "preserve"}),
    ),
    id="{clusterName}:{addonName}",
    read=_read,
    delete=_delete,
    force_new=frozenset({"addonName", "clusterName", "namespaceConfig"}),
    settings=(Setting(_CHANGEABLE, _update, at_create=False),),
    tags=Tags("tag_resource", "untag_resource", {"resourceArn": "{arn}"}),
    from_item={"arn": "addonArn"},
    defaults={"podIdentityAssociations": []},
    drift=_CHANGEABLE,
)

MAPPINGS = (ADDON,)
