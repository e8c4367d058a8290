"""IAM and KMS."""

from __future__ import annotations

from slipway.sandbox.aws.limits.operations import sends

OPERATIONS = (
    sends(
        "aws:iam/role:Role", "iam", "create_role attach_role_policy put_role_policy",
        members={
            "name": "RoleName", "assumeRolePolicy": "AssumeRolePolicyDocument", "managedPolicyArns": "PolicyArn",
            "inlinePolicies": "put_role_policy:", "inlinePolicies.name": "PolicyName",
            "inlinePolicies.policy": "PolicyDocument",
        },
        supplied="put_role_policy.RoleName",
        provider="forceDetachPolicies",
    ),
    sends(
        "aws:iam/rolePolicy:RolePolicy", "iam", "put_role_policy",
        members={"role": "RoleName", "name": "PolicyName", "policy": "PolicyDocument"},
    ),
    sends(
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment", "iam", "attach_role_policy", members={"role": "RoleName"},
    ),
    sends(
        "aws:iam/instanceProfile:InstanceProfile", "iam", "create_instance_profile add_role_to_instance_profile",
        members={"name": "InstanceProfileName", "role": "RoleName"},
    ),
    sends(
        "aws:iam/policy:Policy", "iam", "create_policy",
        members={"name": "PolicyName", "policy": "PolicyDocument"}, provider="delayAfterPolicyCreationInMs",
    ),
    sends("aws:iam/openIdConnectProvider:OpenIdConnectProvider", "iam", "create_open_id_connect_provider"),
    sends(
        "aws:kms/key:Key", "kms",
        "create_key schedule_key_deletion enable_key_rotation",
        members={"deletionWindowInDays": "PendingWindowInDays"},
        provider="enableKeyRotation isEnabled",
    ),
    sends("aws:kms/alias:Alias", "kms", "create_alias", members={"name": "AliasName"}),
)  # fmt: skip
