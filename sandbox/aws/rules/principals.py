"""Who may do what: what a request names admits the service that will use it, and the policy of a resource names whom
there is, and actions of its own service. Of other accounts and regions nothing is known here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from sandbox.aws.client import ROLE
from sandbox.aws.rules.policies import admits, listed, principals, statements
from sandbox.aws.rules.requests import fact, search
from sandbox.aws.rules.rule import TABLES, Case, Rule, rule

_OURS: Final = re.compile(r"arn:[^:]+:iam::(?P<account>\d+):(?P<kind>role|user)/(?P<path>.+)")
_OF_AWS: Final = ("aws-service-role/", "aws-reserved/", ROLE)
"""Roles that AWS makes by itself, and the one with which programs run in the sandbox."""


def _used(on: str, at: str, service: str, actions: str, code: str, words: str, source: str) -> Rule:
    def admits_its_user(case: Case) -> str | None:
        """What the request names is there, and admits the service that will use it."""
        place = {"account": case.aws.account, "region": case.aws.region}
        for arn in listed(search(at, case.given)):
            of, region, account, name = (*str(arn).split(":", 5)[2:], *[""] * 4)[:4]
            if {region, account} <= {"", *place.values()} and of in TABLES["policies"]:
                found = fact(case.aws, TABLES["policies"][of], {**place, "arn": arn, "name": name.rpartition("/")[2]})
                if isinstance(found, Mapping):
                    found = found["AssumeRolePolicyDocument"] if found["Arn"] == arn else None
                if not admits(found, service, actions, place):
                    return words.format(arn)
        return None

    return rule(on, code, at, source, live=True)(admits_its_user)


def _of_resource(on: str, at: str, code: str, prefix: str = "", words: str = "") -> Rule:
    def policy_of_a_resource(case: Case) -> str | None:
        """The policy of a resource names roles and users that are there, and actions of its own service."""
        for one in statements(search(at, case.given)):
            if missing := [name for name in principals(one, "AWS") if _is_missing(case, name)]:
                return f'Invalid principal in policy: "AWS":"{missing[0]}"'
            if prefix and any(not re.match(rf"\*|{prefix}:", str(name), re.I) for name in listed(one.get("Action"))):
                return words
        return None

    source = "IAM User Guide, reference_policies_elements_principal.html; errors of the operation in its API Reference"
    return rule(on, code, at, source, live=True)(policy_of_a_resource)


def _is_missing(case: Case, arn: str) -> bool:
    match = _OURS.fullmatch(arn)
    if match is None or match["account"] != case.aws.account or match["path"].startswith(_OF_AWS):
        return False
    kind = match["kind"]
    found = case.seen("iam", f"get_{kind}", **{f"{kind.title()}Name": match["path"].rpartition("/")[2]})
    return not found or bool(found[kind.title()]["Arn"] != arn)


USED = tuple(_used(*one) for one in TABLES["admits"])
OF_RESOURCES = tuple(_of_resource(*one) for one in TABLES["of-resources"])
