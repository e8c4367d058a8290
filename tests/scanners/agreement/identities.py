"""IAM: policy documents in every resource that holds one, attachments, trust policies, users; and KMS keys."""

from typing import Any, Final

from policies.resources import tokens
from tests.policies.build import Fixture, FixtureResource
from tests.scanners.agreement.spelling import UNREVIEWED, Spelling, allow, by_checkov, by_pack, changed, document, of

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
    return {"it": of(tokens.ROLE, {"assumeRolePolicy": _trust(), "inlinePolicies": [{"name": "it", "policy": text}]})}


def _trust(principal: Any = None, action: str = "sts:AssumeRole", condition: Any = None) -> str:
    statement = {
        "Effect": "Allow",
        "Principal": principal if principal is not None else {"Service": "ec2.amazonaws.com"},
        "Action": action,
    }
    return document({**statement, **({"Condition": condition} if condition else {})})


def _role(**props: Any) -> Fixture:
    return {"it": of(tokens.ROLE, {"assumeRolePolicy": _trust(), **props})}


_GITHUB: Final = {"Federated": "arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com"}
_ISSUER: Final = "token.actions.githubusercontent.com"


def _github(subject: str | None) -> Fixture:
    keys = {f"{_ISSUER}:aud": "sts.amazonaws.com", **({f"{_ISSUER}:sub": subject} if subject else {})}
    operator = "StringLike" if subject and "*" in subject else "StringEquals"
    return _role(assumeRolePolicy=_trust(_GITHUB, "sts:AssumeRoleWithWebIdentity", {operator: keys}))


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


_OWN: Final = "arn:aws:iam::111122223333:policy/own"
_KEY_POLICY: Final = document(allow("kms:*", Principal={"AWS": "arn:aws:iam::111122223333:root"}))
_ANYBODY: Final = document(allow("kms:*", Principal={"AWS": "*"}))
_ANY: Final = document(allow("kms:*", Principal="*"))
_LISTED: Final = document(allow("kms:*", Principal={"AWS": ["arn:aws:iam::111122223333:root", "*"]}))
_KEY: Final = of(tokens.KEY, {"enableKeyRotation": True, "policy": _KEY_POLICY})
_KEY_ELSEWHERE: Final[Fixture] = {
    "key": of(tokens.KEY, {"enableKeyRotation": True}),
    "policy": of("aws:kms/keyPolicy:KeyPolicy", {"policy": _KEY_POLICY}, keyId="key"),
}


def _people(kind: str, props: dict[str, Any]) -> FixtureResource:
    return of(kind, {**props, "policyArn": _OWN} if kind != tokens.USER_POLICY else {**props, "policy": _READ})


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
        {"assumeRolePolicy": _trust()},
        "managedPolicyArns",
        listed=True,
    ),
    Spelling(
        name="aws_iam_policy_attachment, users",
        good={"it": _people(tokens.POLICY_ATTACHMENT, {"name": "it", "roles": ["reader"]})},
        bad={"CKV_AWS_40": {"it": _people(tokens.POLICY_ATTACHMENT, {"name": "it", "users": ["somebody"]})}},
    ),
    Spelling(
        name="aws_iam_user_policy_attachment, any",
        good={"it": of(tokens.ROLE_ATTACHMENT, {"role": "reader", "policyArn": _OWN})},
        bad={"CKV_AWS_40": {"it": _people(tokens.USER_ATTACHMENT, {"user": "somebody"})}},
    ),
    Spelling(
        name="aws_iam_user_policy, any",
        good={"it": of(tokens.ROLE_POLICY, {"role": "reader", "policy": _READ})},
        bad={"CKV_AWS_40": {"it": _people(tokens.USER_POLICY, {"user": "somebody"})}},
    ),
    Spelling(name="aws_iam_user", good=_role(), bad={"CKV_AWS_273": {"it": of(tokens.USER, {"name": "somebody"})}}),
    Spelling(
        name="aws_iam_role, principals",
        good=_role(),
        bad={
            "CKV_AWS_60": (
                _role(assumeRolePolicy=_trust({"AWS": "*"})),
                _role(assumeRolePolicy=_trust({"AWS": ["*"]})),
            ),
            "CKV_AWS_61": (
                _role(assumeRolePolicy=_trust({"AWS": "111122223333"})),
                _role(assumeRolePolicy=_trust({"AWS": "arn:aws:iam::111122223333:root"})),
                _role(assumeRolePolicy=_trust({"AWS": ["arn:aws:iam::111122223333:root"]})),
            ),
        },
    ),
    Spelling(
        name="aws_iam_role, principals as texts",
        good=_role(),
        bad={"CKV_AWS_60": _role(assumeRolePolicy=_trust("*"))},
        bad_differs={"CKV_AWS_60": by_pack("Checkov reads * as a value of AWS")},
    ),
    Spelling(
        name="aws_iam_role, an account and a condition",
        good=_role(
            assumeRolePolicy=_trust(
                {"AWS": "arn:aws:iam::111122223333:root"}, condition={"StringEquals": {"sts:ExternalId": "a1b2c3"}}
            )
        ),
        bad={
            "CKV_AWS_61": _role(
                assumeRolePolicy=_trust(
                    {"AWS": "arn:aws:iam::111122223333:root"}, condition={"Bool": {"aws:SecureTransport": "true"}}
                )
            )
        },
        good_differs={"CKV_AWS_61": by_checkov("Checkov does not read conditions, such as that on an external ID")},
    ),
    Spelling(
        name="aws_iam_role, GitHub",
        good=_github("repo:owner/name:environment:prod"),
        bad={"CKV_AWS_393": (_github(None), _github("*"), _github("repo:*"))},
    ),
    Spelling(
        name="aws_iam_role, GitHub, one repository",
        good=_github("repo:owner/name:ref:refs/heads/main"),
        bad={"CKV_AWS_393": _github("repo:owner/name:*")},
        bad_differs={"CKV_AWS_393": by_pack("Checkov accepts every branch and pull request of a repository")},
    ),
    Spelling(
        name="aws_kms_key",
        good={"key": _KEY},
        bad={
            "CKV_AWS_7": (
                {"key": changed(_KEY, "enableKeyRotation")},
                {"key": changed(_KEY, "enableKeyRotation", False)},
            ),
            "CKV_AWS_33": tuple({"key": changed(_KEY, "policy", one)} for one in (_ANYBODY, _ANY, _LISTED)),
            "CKV_AWS_227": {"key": changed(_KEY, "isEnabled", False)},
            "CKV2_AWS_64": {"key": changed(_KEY, "policy")},
        },
    ),
    Spelling(
        name="aws_kms_key_policy",
        good=_KEY_ELSEWHERE,
        bad={
            "CKV_AWS_33": {**_KEY_ELSEWHERE, "policy": changed(_KEY_ELSEWHERE["policy"], "policy", _ANYBODY)},
            "CKV2_AWS_64": {"key": _KEY_ELSEWHERE["key"]},
        },
        bad_differs={"CKV_AWS_33": by_pack("Checkov reads the policy of the key itself only")},
        good_differs={"CKV_AWS_33": UNREVIEWED, "CKV2_AWS_64": UNREVIEWED},
    ),
)
