"""Rules of IAM and KMS, and of whoever uses a key."""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Mapping
from typing import Any

from sandbox.aws.rules.rule import TABLES, Case, Moment, Rule, is_true, rule, value

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


# KMS keys: their policy and their deletion.

_KEY = "aws:kms/key:Key"
_CHANGES_THE_POLICY = "kms:putkeypolicy"


@rule(
    _KEY, "MalformedPolicyDocumentException", "policy bypassPolicyLockoutSafetyCheck",
    "https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-default.html (prevent unmanageable keys), read "
    "2026-11",
)  # fmt: skip
def key_policy(case: Case) -> str | None:
    """Somebody may change the policy. Which principal runs the program is not known here, so any is accepted."""
    policy = case.new.get("policy")
    if not policy or is_true(case.new.get("bypassPolicyLockoutSafetyCheck")) or _somebody_may_change_it(policy):
        return None
    return "The new key policy will not allow you to update the key policy in the future."


def _somebody_may_change_it(policy: Any) -> bool:
    try:
        document = json.loads(policy) if isinstance(policy, str) else policy
    except ValueError:
        # Moto refuses a document that is no JSON.
        return True
    statements = document.get("Statement") or []
    each = statements if isinstance(statements, list) else [statements]
    return any(_allows(statement) for statement in each)


def _allows(statement: Mapping[str, Any]) -> bool:
    if statement.get("Effect") != "Allow" or not _is_principal(statement):
        return False
    if "NotAction" in statement:
        return not _names_it(statement["NotAction"])
    return _names_it(statement.get("Action", []))


def _names_it(actions: Any) -> bool:
    names = actions if isinstance(actions, list) else [actions]
    return any(fnmatch.fnmatchcase(_CHANGES_THE_POLICY, str(name).lower()) for name in names)


def _is_principal(statement: Mapping[str, Any]) -> bool:
    """Services can't run the program."""
    principal = statement.get("Principal", "*" if "NotPrincipal" in statement else None)
    return principal == "*" or (isinstance(principal, Mapping) and bool(principal.get("AWS")))


# Who uses a KMS key: the key exists and is not pending deletion, when AWS looks at it at once.
#
# S3, SQS and SNS store the name of a key without looking at it; their use of it fails later.

_SOURCE = "https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html, read 2026-11; the service's own API"


def _of(type_token: str, at: str, code: str) -> Rule:
    def usable_key(case: Case) -> str | None:
        """The key exists and is enabled."""
        return _problem(case, _key(case, at))

    return rule(type_token, code, at, _SOURCE, Moment.CREATE)(usable_key)


def _key(case: Case, at: str) -> str:
    given = value(case.new, at)
    if isinstance(given, list):
        given = next((one.get("kmsKey") for one in given if one.get("kmsKey")), None)
    return str(given or "")


def _problem(case: Case, key: str) -> str | None:
    """Keys of other accounts and regions are not known here."""
    elsewhere = key.startswith("arn:") and key.split(":")[3:5] != [case.aws.region, case.aws.account]
    if not key or elsewhere or key.startswith("alias/aws/"):
        return None
    described = case.seen("kms", "describe_key", KeyId=key).get("KeyMetadata")
    if described is None:
        return f"Key '{key}' does not exist"
    state = described["KeyState"]
    return None if state == "Enabled" else f"{described['Arn']} is {_STATES.get(state, state)}."


_STATES = {"PendingDeletion": "pending deletion", "Disabled": "disabled"}

USERS = tuple(_of(*one) for one in TABLES["keys"])
