"""Samples: identities, keys and secrets."""

from tests.sandbox.aws.samples.sample import RETAGGED, TAGGED, Sample, aws_call
from tests.sandbox.aws.samples.world import OTHER_TRUST, TRUST, document

SAMPLES: dict[str, Sample] = {
    "aws:iam/role:Role": Sample(lambda world: {"name": "role", "assumeRolePolicy": TRUST, "description": "d", **TAGGED},
        {"assumeRolePolicy": OTHER_TRUST, "maxSessionDuration": 7200, "description": "e", **RETAGGED},
        aws_call("iam", "update_assume_role_policy", RoleName="ID", PolicyDocument=TRUST), ("assumeRolePolicy",)),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": Sample(
        lambda world: {"role": world.role()["name"], "policyArn": "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"}),
    "aws:iam/rolePolicy:RolePolicy": Sample(
        lambda world: {"role": world.role()["name"], "name": "inline", "policy": document("s3:Get*")},
        {"policy": document("s3:*")},
        aws_call("iam", "put_role_policy", RoleName="$role", PolicyName="inline", PolicyDocument=document("ec2:*")),
        ("policy",)),
    "aws:iam/instanceProfile:InstanceProfile": Sample(
        lambda world: {"name": "profile", "role": world.role()["name"], **TAGGED}, RETAGGED,
        aws_call("iam", "remove_role_from_instance_profile", InstanceProfileName="ID", RoleName="$role"), ("role",)),
    "aws:iam/policy:Policy": Sample(lambda world: {"name": "policy", "policy": document("s3:Get*"), **TAGGED},
        {"policy": document("s3:*"), **RETAGGED},
        aws_call("iam", "create_policy_version", PolicyArn="ID", PolicyDocument=document("ec2:*"), SetAsDefault=True),
        ("policy",)),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": Sample(lambda world: {"url": "https://oidc.example.com/id/1",
            "clientIdLists": ["sts.amazonaws.com"], "thumbprintLists": ["9e99a48a9960b14926bb7f3b02e22da2b0ab7280"],
            **TAGGED}, {"thumbprintLists": ["1e99a48a9960b14926bb7f3b02e22da2b0ab7280"], **RETAGGED}, aws_call("iam",
            "update_open_id_connect_provider_thumbprint", OpenIDConnectProviderArn="ID",
            ThumbprintList=["2e99a48a9960b14926bb7f3b02e22da2b0ab7280"]), ("thumbprintLists",)),
    "aws:kms/key:Key": Sample(
        lambda world: {"description": "k", "enableKeyRotation": True, "deletionWindowInDays": 7, **TAGGED},
        {"description": "other", "enableKeyRotation": False, **RETAGGED},
        aws_call("kms", "enable_key_rotation", KeyId="ID"), ("enableKeyRotation",)),
    "aws:kms/alias:Alias": Sample(lambda world: {"name": "alias/key", "targetKeyId": world.key()["keyId"]}),
    "aws:secretsmanager/secret:Secret": Sample(
        lambda world: {"name": world.unique("secret"), "recoveryWindowInDays": 0, **TAGGED},
        {"description": "d", **RETAGGED},
        aws_call("secretsmanager", "update_secret", SecretId="ID", Description="z"), ("description",)),
    "aws:secretsmanager/secretVersion:SecretVersion": Sample(
        lambda world: {"secretId": world.secret(), "secretString": "a"}, {"secretString": "b"},
        aws_call("secretsmanager", "put_secret_value", SecretId="$secretId", SecretString="c"), ("secretString",),
        stays=True),
    "aws:ssm/parameter:Parameter": Sample(
        lambda world: {"name": "/team/size", "type": "String", "value": "1", **TAGGED}, {"value": "2", **RETAGGED},
        aws_call("ssm", "put_parameter", Name="ID", Value="3", Overwrite=True), ("value",)),
}  # fmt: skip
