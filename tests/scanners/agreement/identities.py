"""IAM: policy documents in every resource that holds one, and policies of AWS in every attachment."""

from typing import Any, Final

from policies.resources import tokens
from tests.policies.build import Fixture
from tests.scanners.agreement.spelling import UNREVIEWED, Spelling, allow, by_pack, document, of

_ARN: Final = "arn:aws:s3:::slipway-models/*"
_READ: Final = document(allow("s3:GetObject", _ARN))
_DOCUMENTS: Final[dict[str, str]] = {
    # Actions and resources as single values and as lists: IAM takes both.
    "CKV_AWS_62": document(allow("*")),
    "CKV_AWS_63": document(allow(["*"], [_ARN])),
    "CKV_AWS_286": document(allow(["iam:CreateAccessKey", "iam:CreateLoginProfile"])),
    "CKV_AWS_287": document(allow(["sts:AssumeRole", "ecr:GetAuthorizationToken", "iam:CreateAccessKey"])),
    "CKV_AWS_288": document(allow(["s3:GetObject", "secretsmanager:GetSecretValue"], ["*"])),
    "CKV_AWS_289": document(allow(["iam:PutRolePolicy", "iam:AttachRolePolicy"])),
    "CKV_AWS_290": document(allow(["ec2:TerminateInstances", "s3:PutObject"])),
    "CKV_AWS_355": document(allow("s3:GetObject")),
    "CKV2_AWS_40": document(allow("iam:*")),
}
_TRUST: Final = document({"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"})
_SSO: Final = {
    "instanceArn": "arn:aws:sso:::instance/ssoins-0a1b2c",
    "permissionSetArn": "arn:aws:sso:::permissionSet/a/b",
}


def _holder(kind: str, key: str, props: dict[str, Any]) -> Any:
    def holding(text: str) -> Fixture:
        return {"it": of(kind, {**props, key: text})}

    return holding


def _documents(name: str, kind: str, props: dict[str, Any], key: str = "policy", **more: Any) -> Spelling:
    holding = _holder(kind, key, props)
    bad = {one: holding(text) for one, text in _DOCUMENTS.items()}
    return Spelling(name=name, good=holding(_READ), bad=bad, **more)


def _inline(text: str) -> Fixture:
    return {"it": of(tokens.ROLE, {"assumeRolePolicy": _TRUST, "inlinePolicies": [{"name": "it", "policy": text}]})}


_ADMIN: Final = "arn:aws:iam::aws:policy/AdministratorAccess"
_OVER_IAM: Final = "arn:aws:iam::aws:policy/IAMFullAccess"
_SSM: Final = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"


def _attachments(
    name: str, kind: str, props: dict[str, Any], key: str = "policyArn", *, listed: bool = False, **more: Any
) -> Spelling:
    def attached(arn: str) -> Fixture:
        return {"it": of(kind, {**props, key: [arn] if listed else arn})}

    bad = {"CKV_AWS_274": attached(_ADMIN), "CKV2_AWS_56": attached(_OVER_IAM)}
    return Spelling(name=name, good=attached(_SSM), bad=bad, **more)


SPELLINGS: Final = (
    _documents("aws_iam_policy", tokens.POLICY, {}),
    _documents("aws_iam_role_policy", tokens.ROLE_POLICY, {"role": "reader"}),
    _documents("aws_iam_group_policy", tokens.GROUP_POLICY, {"group": "people"}),
    _documents("aws_iam_user_policy", tokens.USER_POLICY, {"user": "somebody"}),
    _documents(
        "aws_ssoadmin_permission_set_inline_policy",
        "aws:ssoadmin/permissionSetInlinePolicy:PermissionSetInlinePolicy",
        _SSO,
        "inlinePolicy",
        good_differs=dict.fromkeys(_DOCUMENTS, UNREVIEWED),
    ),
    Spelling(
        name="aws_iam_role, inline_policy",
        good=_inline(_READ),
        bad={one: _inline(text) for one, text in _DOCUMENTS.items()},
        bad_differs=dict.fromkeys(_DOCUMENTS, by_pack("Checkov does not read the inline policies of a role")),
    ),
    _attachments("aws_iam_role_policy_attachment", tokens.ROLE_ATTACHMENT, {"role": "reader"}),
    _attachments("aws_iam_policy_attachment", tokens.POLICY_ATTACHMENT, {"name": "it", "roles": ["reader"]}),
    _attachments("aws_iam_user_policy_attachment", tokens.USER_ATTACHMENT, {"user": "somebody"}),
    _attachments(
        "aws_iam_group_policy_attachment",
        "aws:iam/groupPolicyAttachment:GroupPolicyAttachment",
        {"group": "people"},
        good_differs=dict.fromkeys(("CKV_AWS_274", "CKV2_AWS_56"), UNREVIEWED),
    ),
    _attachments(
        "aws_ssoadmin_managed_policy_attachment",
        "aws:ssoadmin/managedPolicyAttachment:ManagedPolicyAttachment",
        _SSO,
        "managedPolicyArn",
        good_differs=dict.fromkeys(("CKV_AWS_274", "CKV2_AWS_56"), UNREVIEWED),
    ),
    _attachments(
        "aws_iam_role, managed_policy_arns",
        tokens.ROLE,
        {"assumeRolePolicy": _TRUST},
        "managedPolicyArns",
        listed=True,
    ),
)
