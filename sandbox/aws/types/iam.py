"""Functions of the types in iam.yaml: IAM, which is global, and KMS."""

from __future__ import annotations

from sandbox.aws.client import Aws
from sandbox.aws.mapping import Call, Inputs, Item, find

# IAM roles, their policies, and instance profiles. IAM is global: its objects are visible in every region.

IAM = "iam"
_GET_PROFILE = Call("get_instance_profile", target={"InstanceProfileName": "{id}"}, item="InstanceProfile")


def delete_role(aws: Aws, id: str, inputs: Inputs) -> None:
    """AWS refuses while policies are attached; `forceDetachPolicies` detaches them first."""
    if inputs.get("forceDetachPolicies"):
        for policy in aws.call(IAM, "list_attached_role_policies", RoleName=id)["AttachedPolicies"]:
            aws.call(IAM, "detach_role_policy", RoleName=id, PolicyArn=policy["PolicyArn"])
        for name in aws.call(IAM, "list_role_policies", RoleName=id)["PolicyNames"]:
            aws.call(IAM, "delete_role_policy", RoleName=id, PolicyName=name)
    aws.call(IAM, "delete_role", RoleName=id)


def read_attachment(aws: Aws, id: str, names: Inputs) -> Item | None:
    listed = find(aws, IAM, Call("list_attached_role_policies", {"RoleName": "{role}"}), names)
    policies = (listed or {}).get("AttachedPolicies", [])
    attached = any(policy["PolicyArn"] == names["policyArn"] for policy in policies)
    return {"Role": names["role"], "PolicyArn": names["policyArn"]} if attached else None


def set_role(aws: Aws, id: str, inputs: Inputs) -> None:
    """Replace the role; a profile has one role at most."""
    profile = find(aws, IAM, _GET_PROFILE, {"id": id}) or {}
    has = {role["RoleName"] for role in profile.get("Roles", [])}
    wanted = inputs.get("role")
    for role in has - {wanted}:
        aws.call(IAM, "remove_role_from_instance_profile", InstanceProfileName=id, RoleName=role)
    if wanted and wanted not in has:
        aws.call(IAM, "add_role_to_instance_profile", InstanceProfileName=id, RoleName=wanted)


def delete_profile(aws: Aws, id: str, inputs: Inputs) -> None:
    set_role(aws, id, {})
    aws.call(IAM, "delete_instance_profile", InstanceProfileName=id)


# Managed IAM policies and the OpenID Connect providers behind IRSA.

MAX_VERSIONS = 5
"""Maximum of versions of a policy; AWS refuses a sixth
(https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html, read 2026-11).
"""


def _old_versions(aws: Aws, arn: str) -> list[str]:
    versions = aws.call(IAM, "list_policy_versions", PolicyArn=arn)["Versions"]
    old = [version for version in versions if not version["IsDefaultVersion"]]
    return [str(version["VersionId"]) for version in sorted(old, key=lambda version: version["CreateDate"])]


def new_policy_version(aws: Aws, id: str, inputs: Inputs) -> None:
    old = _old_versions(aws, id)
    if len(old) + 1 >= MAX_VERSIONS:
        aws.call(IAM, "delete_policy_version", PolicyArn=id, VersionId=old[0])
    create = Call("create_policy_version", {"PolicyArn": id}, {"SetAsDefault": True}, {"policy": "PolicyDocument"})
    create(aws, IAM, {"policy": inputs["policy"]}, {})


def delete_policy(aws: Aws, id: str, inputs: Inputs) -> None:
    for version in _old_versions(aws, id):
        aws.call(IAM, "delete_policy_version", PolicyArn=id, VersionId=version)
    aws.call(IAM, "delete_policy", PolicyArn=id)


# KMS keys and aliases.

KMS = "kms"
DEFAULT_WINDOW_DAYS = 30
_KEY = Call("describe_key", target={"KeyId": "{id}"}, item="KeyMetadata")


def read_key(aws: Aws, id: str, names: Inputs) -> Item | None:
    """As in the AWS provider, a key that is pending deletion does not exist."""
    key = find(aws, KMS, _KEY, {"id": id})
    if key is None or key["KeyState"] == "PendingDeletion":
        return None
    rotation = aws.call(KMS, "get_key_rotation_status", KeyId=id)
    policy = aws.call(KMS, "get_key_policy", KeyId=id, PolicyName="default")["Policy"]
    return {
        **key,
        "Policy": policy,
        "IsEnabled": key["Enabled"],
        "EnableKeyRotation": rotation["KeyRotationEnabled"],
        "RotationPeriodInDays": rotation.get("RotationPeriodInDays"),
    }


def set_rotation(aws: Aws, id: str, inputs: Inputs) -> None:
    if inputs.get("enableKeyRotation") not in (True, "true"):
        aws.call(KMS, "disable_key_rotation", KeyId=id)
        return
    period = inputs.get("rotationPeriodInDays")
    aws.call(KMS, "enable_key_rotation", KeyId=id, **({"RotationPeriodInDays": int(period)} if period else {}))


def set_enabled(aws: Aws, id: str, inputs: Inputs) -> None:
    aws.call(KMS, "enable_key" if inputs.get("isEnabled", True) in (True, "true") else "disable_key", KeyId=id)


def schedule_deletion(aws: Aws, id: str, inputs: Inputs) -> None:
    days = int(inputs.get("deletionWindowInDays") or DEFAULT_WINDOW_DAYS)
    aws.call(KMS, "schedule_key_deletion", KeyId=id, PendingWindowInDays=days)


def read_alias(aws: Aws, id: str, names: Inputs) -> Item | None:
    """The alias; its key is shown as the program wrote it, by ID or by ARN."""
    for alias in aws.call(KMS, "list_aliases")["Aliases"]:
        if alias["AliasName"] == id:
            key = f"arn:{aws.partition}:kms:{aws.region}:{aws.account}:key/{alias['TargetKeyId']}"
            target = key if names.get("targetKeyId") == key else alias["TargetKeyId"]
            shown = {"Name": id, "Arn": alias["AliasArn"], "TargetKeyArn": key, "TargetKeyId": target}
            return {**alias, **shown}
    return None
