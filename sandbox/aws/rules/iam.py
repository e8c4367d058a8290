"""Rules of IAM and KMS, and of whoever uses a key."""

from __future__ import annotations

import json
import re

from sandbox.aws.rules.requests import search
from sandbox.aws.rules.rule import TABLES, Case, Rule, rule

INLINE = 10_240


@rule("iam.put_role_policy", "LimitExceeded", "PolicyDocument RoleName PolicyName",
      "IAM User Guide, reference_iam-quotas.html, read 2026-11", live=True)  # fmt: skip
def inline_policies(case: Case) -> str | None:
    """All inline policies of a role together; IAM does not count white space."""
    role, documents = case.given["RoleName"], [case.given["PolicyDocument"]]
    for name in case.aws.call("iam", "list_role_policies", RoleName=role)["PolicyNames"]:
        if name != case.given["PolicyName"]:
            one = case.aws.call("iam", "get_role_policy", RoleName=role, PolicyName=name)["PolicyDocument"]
            documents.append(json.dumps(one))
    size = sum(len(re.sub(r"\s", "", one)) for one in documents)
    return None if size <= INLINE else f"Maximum policy size of {INLINE} bytes exceeded for role {role}"


# Who uses a KMS key: the key exists and is not pending deletion, when AWS looks at it at once.
#
# S3, SQS and SNS store the name of a key without looking at it; their use of it fails later.

_SOURCE = "https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html, read 2026-11; the service's own API"


def _of(on: str, at: str, code: str) -> Rule:
    def usable_key(case: Case) -> str | None:
        """The key exists and is enabled."""
        return _problem(case, str(search(at, case.given) or ""))

    return rule(on, code, at, _SOURCE, live=True)(usable_key)


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

KEYS = tuple(_of(*one) for one in TABLES["keys"])
