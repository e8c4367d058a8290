"""KMS keys and aliases."""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import Action, Call, Inputs, Item, ResourceMapping, Setting, Tags, find

SERVICE = "kms"
DEFAULT_WINDOW_DAYS = 30
_DESCRIBE = Call("describe_key", target={"KeyId": "{id}"}, item="KeyMetadata")


def _read_key(aws: Aws, id: str, names: Inputs) -> Item | None:
    """As in the AWS provider, a key that is pending deletion does not exist."""
    key = find(aws, SERVICE, _DESCRIBE, {"id": id})
    if key is None or key["KeyState"] == "PendingDeletion":
        return None
    rotation = aws.call(SERVICE, "get_key_rotation_status", KeyId=id)
    policy = aws.call(SERVICE, "get_key_policy", KeyId=id, PolicyName="default")["Policy"]
    return {
        **key,
        "Policy": policy,
        "IsEnabled": key["Enabled"],
        "EnableKeyRotation": rotation["KeyRotationEnabled"],
        "RotationPeriodInDays": rotation.get("RotationPeriodInDays"),
    }


def _set_rotation(aws: Aws, id: str, inputs: Inputs) -> None:
    if inputs.get("enableKeyRotation") not in (True, "true"):
        aws.call(SERVICE, "disable_key_rotation", KeyId=id)
        return
    period = inputs.get("rotationPeriodInDays")
    aws.call(SERVICE, "enable_key_rotation", KeyId=id, **({"RotationPeriodInDays": int(period)} if period else {}))


def _set_enabled(aws: Aws, id: str, inputs: Inputs) -> None:
    aws.call(SERVICE, "enable_key" if inputs.get("isEnabled", True) in (True, "true") else "disable_key", KeyId=id)


def _schedule_deletion(aws: Aws, id: str, inputs: Inputs) -> None:
    days = int(inputs.get("deletionWindowInDays") or DEFAULT_WINDOW_DAYS)
    aws.call(SERVICE, "schedule_key_deletion", KeyId=id, PendingWindowInDays=days)


def _put(operation: str, member: str, name: str, **fixed: str) -> Action:
    def send(aws: Aws, id: str, inputs: Inputs) -> None:
        aws.call(SERVICE, operation, KeyId=id, **{member: inputs.get(name, "")}, **fixed)

    return send


KEY = ResourceMapping(
    "aws:kms/key:Key",
    SERVICE,
    create=Call(
        "create_key",
        omit=frozenset({"deletionWindowInDays", "enableKeyRotation", "rotationPeriodInDays", "isEnabled"}),
        rename={"bypassPolicyLockoutSafetyCheck": "BypassPolicyLockoutSafetyCheck"},
    ),
    id="KeyMetadata.KeyId",
    read=_read_key,
    delete=_schedule_deletion,
    # hashicorp/terraform-provider-aws internal/service/kms/key.go, read 2026-11.
    force_new=frozenset({"customKeyStoreId", "customerMasterKeySpec", "keyUsage", "multiRegion", "xksKeyId"}),
    settings=(
        Setting(("description",), _put("update_key_description", "Description", "description"), at_create=False),
        Setting(("policy",), _put("put_key_policy", "Policy", "policy", PolicyName="default"), at_create=False),
        Setting(("enableKeyRotation", "rotationPeriodInDays"), _set_rotation),
        Setting(("isEnabled",), _set_enabled),
    ),
    tags=Tags(
        "tag_resource",
        "untag_resource",
        {"KeyId": "{id}"},
        read=Call("list_resource_tags", target={"KeyId": "{id}"}, item="Tags"),
    ),
    from_item={"keyId": "KeyId"},
    defaults={"enableKeyRotation": False, "isEnabled": True},
    drift=("description", "policy", "enableKeyRotation", "isEnabled", "rotationPeriodInDays"),
)


def _read_alias(aws: Aws, id: str, names: Inputs) -> Item | None:
    for alias in aws.call(SERVICE, "list_aliases")["Aliases"]:
        if alias["AliasName"] == id:
            return {**alias, "Name": alias["AliasName"], "Arn": alias["AliasArn"]}
    return None


ALIAS = ResourceMapping(
    "aws:kms/alias:Alias",
    SERVICE,
    create=Call("create_alias", rename={"name": "AliasName"}, omit=frozenset({"namePrefix"})),
    id="{name}",
    read=_read_alias,
    delete=Call("delete_alias", target={"AliasName": "{id}"}),
    force_new=frozenset({"name", "namePrefix"}),
    settings=(Setting(("targetKeyId",), Call("update_alias", target={"AliasName": "{id}"}), at_create=False),),
    name_form="alias/{}",
    from_item={"targetKeyId": "TargetKeyId"},
    computed={"targetKeyArn": "arn:{partition}:kms:{region}:{account}:key/{targetKeyId}"},
    drift=("targetKeyId",),
)

MAPPINGS = (KEY, ALIAS)
