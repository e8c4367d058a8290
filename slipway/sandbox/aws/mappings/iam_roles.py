"""IAM roles, their policies, and instance profiles. IAM is global: its objects are visible in every region."""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import Call, Inputs, Item, ResourceMapping, Setting, Tags, find

SERVICE = "iam"
_GET_ROLE = Call("get_role", target={"RoleName": "{id}"}, item="Role")
_GET_PROFILE = Call("get_instance_profile", target={"InstanceProfileName": "{id}"}, item="InstanceProfile")


def _set_boundary(aws: Aws, id: str, inputs: Inputs) -> None:
    boundary = inputs.get("permissionsBoundary")
    if boundary:
        aws.call(SERVICE, "put_role_permissions_boundary", RoleName=id, PermissionsBoundary=boundary)
    else:
        aws.call(SERVICE, "delete_role_permissions_boundary", RoleName=id)


def _delete_role(aws: Aws, id: str, inputs: Inputs) -> None:
    """AWS refuses while policies are attached; `forceDetachPolicies` detaches them first."""
    if inputs.get("forceDetachPolicies"):
        for policy in aws.call(SERVICE, "list_attached_role_policies", RoleName=id)["AttachedPolicies"]:
            aws.call(SERVICE, "detach_role_policy", RoleName=id, PolicyArn=policy["PolicyArn"])
        for name in aws.call(SERVICE, "list_role_policies", RoleName=id)["PolicyNames"]:
            aws.call(SERVICE, "delete_role_policy", RoleName=id, PolicyName=name)
    aws.call(SERVICE, "delete_role", RoleName=id)


ROLE = ResourceMapping(
    "aws:iam/role:Role",
    SERVICE,
    create=Call(
        "create_role",
        rename={"name": "RoleName", "assumeRolePolicy": "AssumeRolePolicyDocument"},
        omit=frozenset({"forceDetachPolicies", "inlinePolicies", "managedPolicyArns", "namePrefix"}),
    ),
    id="Role.RoleName",
    read=_GET_ROLE,
    delete=_delete_role,
    force_new=frozenset({"name", "namePrefix", "path"}),
    settings=(
        Setting(
            ("assumeRolePolicy",),
            Call("update_assume_role_policy", {"RoleName": "{id}"}, rename={"assumeRolePolicy": "PolicyDocument"}),
            at_create=False,
        ),
        Setting(("description", "maxSessionDuration"), Call("update_role", {"RoleName": "{id}"}), at_create=False),
        Setting(("permissionsBoundary",), _set_boundary, at_create=False),
    ),
    tags=Tags("tag_role", "untag_role", {"RoleName": "{id}"}),
    name_limit=64,
    from_item={
        "name": "RoleName", "uniqueId": "RoleId", "assumeRolePolicy": "AssumeRolePolicyDocument",
        "permissionsBoundary": "PermissionsBoundary.PermissionsBoundaryArn", "createDate": "CreateDate",
    },
    defaults={"description": "", "maxSessionDuration": 3600},
    drift=("assumeRolePolicy", "description", "maxSessionDuration", "permissionsBoundary"),
)  # fmt: skip


def _read_attachment(aws: Aws, id: str, names: Inputs) -> Item | None:
    listed = find(aws, SERVICE, Call("list_attached_role_policies", {"RoleName": "{role}"}), names)
    policies = (listed or {}).get("AttachedPolicies", [])
    attached = any(policy["PolicyArn"] == names["policyArn"] for policy in policies)
    return {"Role": names["role"], "PolicyArn": names["policyArn"]} if attached else None


ROLE_POLICY_ATTACHMENT = ResourceMapping(
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    SERVICE,
    create=Call("attach_role_policy", rename={"role": "RoleName"}),
    id="{role}/{policyArn}",
    read=_read_attachment,
    delete=Call("detach_role_policy", target={"RoleName": "{role}", "PolicyArn": "{policyArn}"}),
    force_new=frozenset({"role", "policyArn"}),
)

_PUT_ROLE_POLICY = Call(
    "put_role_policy",
    rename={"role": "RoleName", "name": "PolicyName", "policy": "PolicyDocument"},
    omit=frozenset({"namePrefix"}),
)

ROLE_POLICY = ResourceMapping(
    "aws:iam/rolePolicy:RolePolicy",
    SERVICE,
    create=_PUT_ROLE_POLICY,
    id="{role}:{name}",
    read=Call("get_role_policy", target={"RoleName": "{role}", "PolicyName": "{name}"}),
    delete=Call("delete_role_policy", target={"RoleName": "{role}", "PolicyName": "{name}"}),
    force_new=frozenset({"role", "name", "namePrefix"}),
    settings=(Setting(("policy", "role", "name"), _PUT_ROLE_POLICY, at_create=False),),
    name_limit=128,
    from_item={"policy": "PolicyDocument", "role": "RoleName", "name": "PolicyName"},
    drift=("policy",),
)


def _set_role(aws: Aws, id: str, inputs: Inputs) -> None:
    """Replace the role; a profile has one role at most."""
    profile = find(aws, SERVICE, _GET_PROFILE, {"id": id}) or {}
    has = {role["RoleName"] for role in profile.get("Roles", [])}
    wanted = inputs.get("role")
    for role in has - {wanted}:
        aws.call(SERVICE, "remove_role_from_instance_profile", InstanceProfileName=id, RoleName=role)
    if wanted and wanted not in has:
        aws.call(SERVICE, "add_role_to_instance_profile", InstanceProfileName=id, RoleName=wanted)


def _delete_profile(aws: Aws, id: str, inputs: Inputs) -> None:
    _set_role(aws, id, {})
    aws.call(SERVICE, "delete_instance_profile", InstanceProfileName=id)


INSTANCE_PROFILE = ResourceMapping(
    "aws:iam/instanceProfile:InstanceProfile",
    SERVICE,
    create=Call(
        "create_instance_profile", rename={"name": "InstanceProfileName"}, omit=frozenset({"role", "namePrefix"})
    ),
    id="InstanceProfile.InstanceProfileName",
    read=_GET_PROFILE,
    delete=_delete_profile,
    force_new=frozenset({"name", "namePrefix", "path"}),
    settings=(Setting(("role",), _set_role),),
    tags=Tags("tag_instance_profile", "untag_instance_profile", {"InstanceProfileName": "{id}"}),
    name_limit=128,
    from_item={
        "name": "InstanceProfileName", "role": "Roles[0].RoleName", "uniqueId": "InstanceProfileId",
        "createDate": "CreateDate",
    },
    drift=("role",),
)  # fmt: skip

MAPPINGS = (ROLE, ROLE_POLICY_ATTACHMENT, ROLE_POLICY, INSTANCE_PROFILE)
