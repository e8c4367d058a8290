"""IAM: sizes of policies and how many a role has.

A quota that AWS raises on request is checked at its default: a plan that needs more should know.

Actions that no service has (`s3:GetObjekt`) are not refused: IAM stores a policy whose actions are well-formed, and
only its policy validation, a part of Access Analyzer, reports them (IAM User Guide,
access_policies_policy-validator.html, read 2026-11). Moto refuses, as IAM does, an action without the prefix of a
service.
"""

from __future__ import annotations

import json
import re
from typing import Any

from slipway.sandbox.aws.rules.rule import Case, Moment, rule

_QUOTAS = "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html, read 2026-11"
MANAGED, TRUST, INLINE, ATTACHED = 6144, 2048, 10_240, 10
_CODE = "LimitExceeded"


def _size(document: Any) -> int:
    """IAM does not count white space."""
    return len(re.sub(r"\s", "", document if isinstance(document, str) else json.dumps(document)))


@rule("aws:iam/policy:Policy", _CODE, "policy", _QUOTAS)
def managed_policy(case: Case) -> str | None:
    """The document of a managed policy."""
    return f"Cannot exceed quota for PolicySize: {MANAGED}" if _size(case.new["policy"]) > MANAGED else None


@rule("aws:iam/role:Role", _CODE, "assumeRolePolicy", _QUOTAS)
def trust_policy(case: Case) -> str | None:
    """The trust policy of a role."""
    return f"Cannot exceed quota for ACLSizePerRole: {TRUST}" if _size(case.new["assumeRolePolicy"]) > TRUST else None


@rule("aws:iam/rolePolicy:RolePolicy", _CODE, "policy", _QUOTAS)
def inline_policy(case: Case) -> str | None:
    """One inline policy of a role."""
    return _inline(case, _size(case.new["policy"]))


@rule("aws:iam/rolePolicy:RolePolicy", _CODE, "policy role", _QUOTAS, Moment.CREATE, Moment.UPDATE)
def inline_policies(case: Case) -> str | None:
    """All inline policies of a role together."""
    role, total = case.new["role"], _size(case.new["policy"])
    for name in case.aws.call("iam", "list_role_policies", RoleName=role)["PolicyNames"]:
        if name != case.new["name"]:
            one = case.aws.call("iam", "get_role_policy", RoleName=role, PolicyName=name)
            total += _size(one["PolicyDocument"])
    return _inline(case, total)


def _inline(case: Case, size: int) -> str | None:
    if size <= INLINE:
        return None
    return f"Maximum policy size of {INLINE} bytes exceeded for role {case.new['role']}"


@rule("aws:iam/rolePolicyAttachment:RolePolicyAttachment", _CODE, "role", _QUOTAS, Moment.CREATE)
def attached_policies(case: Case) -> str | None:
    """Managed policies of a role."""
    attached = case.aws.call("iam", "list_attached_role_policies", RoleName=case.new["role"])["AttachedPolicies"]
    others = [one for one in attached if one["PolicyArn"] != case.new["policyArn"]]
    return f"Cannot exceed quota for PoliciesPerRole: {ATTACHED}" if len(others) >= ATTACHED else None


RULES = (managed_policy, trust_policy, inline_policy, inline_policies, attached_policies)
