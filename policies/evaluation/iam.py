"""IAM policies: their statements, whom they allow and under which conditions, and what actions do.

A condition narrows if the request has to have one of a few values: a positive operator, a key that the caller does not
choose, and values that are no wildcards. `aws:SecureTransport`, a date, `StringLike: "*"`, `...IfExists` and
`ForAllValues:`, which are true for requests without the key, do not (IAM User Guide, "Condition operators").

Access levels of actions are derived from their names: reads begin with one of a few verbs. AWS's Service Authorization
Reference lists the access level of every action. The verbs agree with it except for the actions in `_WRITES`, so no
copy of the table has to be maintained.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Final

from policies.evaluation.ranges import internet
from policies.resources.access import Node, WrongTypeError, plain
from policies.resources.resource import Resource


@lru_cache(maxsize=1024)
def _json(text: str) -> Any:
    return json.loads(text)


def parsed(node: Node) -> Node:
    """The value of a JSON text; maps, unknown and missing values are returned unchanged. An empty one is missing: in
    the state of a stack the provider has one where the program gives none."""
    if not isinstance(node.raw, str):
        return node
    if not node.raw:
        return Node(node.path, None)
    try:
        return Node(node.path, _json(node.raw))
    except ValueError as error:
        raise WrongTypeError(node, "JSON") from error


def listed(node: Node) -> list[Node]:
    """Entries of a list, or the single value: IAM accepts both everywhere."""
    if node.known and not isinstance(node.raw, list):
        return [node]
    return node.items()


@dataclass(frozen=True)
class Statement:
    """One statement of an IAM policy document."""

    node: Node

    @property
    def allows(self) -> bool:
        """Whether its effect is certainly Allow."""
        return bool(self.node["Effect"].raw == "Allow")

    @property
    def actions(self) -> list[str]:
        """Its known actions, in lower case: IAM is case-insensitive."""
        return [str(action.raw).lower() for action in listed(self.node["Action"]) if action.known]

    @property
    def inverted(self) -> bool:
        """Whether it uses NotAction."""
        return not self.node["NotAction"].missing

    @property
    def everywhere(self) -> bool:
        """Whether it certainly applies to every resource, or to every one of a service or of an account."""
        patterns = [str(resource.raw) for resource in listed(self.node["Resource"]) if resource.known]
        return not self.node["NotResource"].missing or any(_all_of(pattern) for pattern in patterns)

    @property
    def where(self) -> str:
        """Its resources, for messages."""
        if not self.node["NotResource"].missing:
            return "every resource but some"
        return ", ".join(sorted(one.whole for one in listed(self.node["Resource"])))

    @property
    def conditions(self) -> dict[str, list[Node]]:
        """Values by condition key, in lower case, of all operators."""
        values_by_key: dict[str, list[Node]] = {}
        for operator in self.node["Condition"].fields().values():
            for key, values in operator.fields().items():
                values_by_key.setdefault(key.lower(), []).extend(listed(values))
        return values_by_key

    def principals(self, kind: str) -> list[Node]:
        """Principals of a kind; a plain `*` counts as kind AWS."""
        principal = self.node["Principal"]
        if isinstance(principal.raw, str):
            return [principal] if kind == "AWS" else []
        return listed(principal[kind])


def _all_of(pattern: str) -> bool:
    return pattern.split(":", 5)[-1].strip("*?/") == ""


def statements(node: Node) -> Iterator[Statement]:
    """Known statements of a document."""
    document = parsed(node)
    for statement in listed(document["Statement"]):
        if statement.known:
            yield Statement(statement)


def refuses_plain_transport(document: Node) -> bool:
    """Whether a resource policy certainly denies all requests of all principals without TLS."""
    return any(
        statement.node["Effect"].raw == "Deny"
        and any(who.raw == "*" for who in statement.principals("AWS"))
        and any(action.endswith("*") for action in statement.actions)
        and set(statement.conditions) == {"aws:securetransport"}
        and all(value.raw in ("false", False) for value in statement.conditions["aws:securetransport"])
        for statement in statements(document)
    )


_POSITIVE: Final = frozenset(
    {
        "stringequals", "stringequalsignorecase", "stringlike", "arnequals", "arnlike", "numericequals", "bool",
        "ipaddress", "foranyvalue:stringequals", "foranyvalue:stringequalsignorecase", "foranyvalue:stringlike",
        "foranyvalue:arnequals", "foranyvalue:arnlike",
    }
)  # fmt: skip
_ACCOUNT: Final = re.compile(r"\d{12}")
_IDENTIFIERS: Final = frozenset(
    {"aws:principalaccount", "aws:sourceaccount", "aws:principalorgid", "kms:calleraccount"}
)
_TAGS: Final = ("aws:resourcetag/", "aws:requesttag/")
CALLER: Final = frozenset(
    {
        "aws:principalaccount", "aws:principalarn", "aws:principalorgid", "aws:principalorgpaths", "aws:sourceaccount",
        "aws:sourcearn", "aws:sourceorgid", "aws:sourceip", "aws:sourcevpc", "aws:sourcevpce", "kms:calleraccount",
    }
)  # fmt: skip
"""Keys that say who or what calls, or from which network (IAM User Guide, "AWS global condition context keys"; KMS in
the Service Authorization Reference)."""


def constraints(statement: Statement) -> Iterator[tuple[str, list[Node]]]:
    """Keys, in lower case, that a request must have, with the accepted values."""
    for operator, keys in statement.node["Condition"].fields().items():
        if operator.lower() in _POSITIVE:
            yield from ((key.lower(), listed(values)) for key, values in keys.fields().items())


def undecided(statement: Statement) -> bool:
    """Whether the condition is not known before the update."""
    return statement.node["Condition"].unknown


def described(statement: Statement) -> str:
    """The values that a request must have, as the end of a message; a suppression is void once they change."""
    parts = [f"{key} {', '.join(value.whole for value in values)}" for key, values in constraints(statement)]
    return f" with {' and '.join(sorted(parts))}" if parts else ""


def wildcard(value: Node) -> bool:
    """Whether a value accepts everything, or in an ARN more than one account."""
    text = str(value.raw)
    if value.unknown:
        return False
    if not text.startswith("arn:"):
        return text.strip("*?:") == ""
    parts = text.split(":", 5)
    # The ARN of a bucket has no account: names of buckets are unique.
    return len(parts) < 6 or not (_ACCOUNT.fullmatch(parts[4]) or (parts[2] == "s3" and parts[5].strip("*?/")))


def narrow(statement: Statement, counts: Callable[[str], bool]) -> bool:
    """Whether a condition on a key that counts accepts a few values only; true if it is not known yet."""
    return undecided(statement) or any(counts(key) and _few(key, values) for key, values in constraints(statement))


def _few(key: str, values: list[Node]) -> bool:
    if key == "aws:sourceip":
        return not list(internet(values))
    if key in _IDENTIFIERS:
        return not any(value.known and set("*?") & set(str(value.raw)) for value in values)
    return not any(wildcard(value) for value in values)


def limits_the_caller(statement: Statement) -> bool:
    """Whether a statement of a resource policy is for few callers whatever its principal is."""
    return narrow(statement, lambda key: key in CALLER)


def limits_the_resource(statement: Statement) -> bool:
    """Whether a statement of an identity's policy applies to some resources only, by tags or by a key of the service.
    Global keys say something about the caller, whom the statement is for anyway."""
    return narrow(statement, lambda key: key.startswith(_TAGS) or not key.startswith("aws:"))


_IN_ARN: Final = re.compile(r"arn:[a-z-]+:[a-z0-9-]+:[a-z0-9-]*:(\d{12}):.*|(\d{12})")
_KINDS: Final = ("AWS", "Federated", "CanonicalUser")
_BY_ACCOUNT: Final = frozenset(
    {"aws:principalaccount", "aws:principalarn", "aws:sourceaccount", "aws:sourcearn", "kms:calleraccount"}
)


def home(resource: Resource) -> set[str]:
    """Accounts of the resource's provider; arguments of a provider are encoded as JSON."""
    provider: Mapping[str, Any] = resource.provider
    allowed = provider["allowedAccountIds"] if "allowedAccountIds" in list(provider) else None
    return {str(one.raw) for one in listed(parsed(Node("allowedAccountIds", plain(allowed)))) if one.known}


def account_of(text: str) -> str | None:
    """The account in an ARN or an account ID; None for `*`, services, and ARNs without one."""
    found = _IN_ARN.fullmatch(text)
    return (found[1] or found[2]) if found else None


def anybody(document: Node, *, conditions: bool = True) -> Iterator[str]:
    """Statements for every principal that no condition limits, as the end of a sentence that begins with "it is".

    Args:
        document: The policy.
        conditions: Whether the service evaluates conditions on the caller.
    """
    for statement in _allowing(document):
        inverted = not statement.node["NotPrincipal"].missing
        wide = [who for kind in ("AWS", "Federated", "Service") for who in statement.principals(kind) if _wild(who)]
        if inverted:
            yield "for all principals but some (NotPrincipal)"
        elif wide and not (conditions and limits_the_caller(statement)):
            yield f"for the principal {wide[0].shown} without a condition that limits it"


def foreign_principals(document: Node, known: set[str]) -> Iterator[str]:
    """Principals outside the known accounts, in principals and in the conditions that limit them."""
    for statement in _allowing(document):
        values = [who for kind in _KINDS for who in statement.principals(kind)]
        values += [value for key, some in constraints(statement) if key in _BY_ACCOUNT for value in some]
        for value in values:
            account = account_of(str(value.raw))
            if value.known and account is not None and account not in known:
                yield str(value.raw)
        yield from (str(who.raw) for who in statement.principals("CanonicalUser") if who.known)


def _allowing(document: Node) -> Iterator[Statement]:
    return (statement for statement in statements(document) if statement.allows)


def _wild(who: Node) -> bool:
    return who.known and "*" in str(who.raw)


_VERBS: Final = ("batchget", "check", "describe", "download", "estimate", "filter", "get", "head", "list", "lookup")
_MORE_VERBS: Final = ("preview", "query", "receive", "scan", "search", "select", "simulate", "test", "validate", "view")
_WRITES: Final = frozenset({"ec2:getconsolescreenshot", "sts:getfederationtoken"})
"""Named like reads, but with access level Write in AWS's table."""

EXFILTRATION: Final = (
    "s3:getobject*", "ssm:getparameter*", "secretsmanager:getsecretvalue", "secretsmanager:batchgetsecretvalue",
    "dynamodb:scan", "rds:downloaddblogfileportion",
)  # fmt: skip
"""Reading the data itself; salesforce/cloudsplaining 0.8, constants, READ_ONLY_DATA_EXFILTRATION_ACTIONS, and scans."""
CREDENTIALS: Final = (
    "sts:assumerole*", "sts:getfederationtoken", "sts:getsessiontoken", "iam:createaccesskey", "iam:createloginprofile",
    "iam:updateloginprofile", "iam:updateaccesskey", "iam:createservicespecificcredential",
    "iam:resetservicespecificcredential", "codeartifact:getauthorizationtoken", "lightsail:getinstanceaccessdetails",
    "rds-db:connect", "redshift:getclustercredentials", "chime:createapikey", "ecr:getlogin*",
)  # fmt: skip
"""Actions that return credentials; same source, ACTIONS_THAT_RETURN_CREDENTIALS. Without `ecr:GetAuthorizationToken`,
which supports no resources and grants no permission that the caller does not have."""
PERMISSIONS: Final = (
    "iam:add*", "iam:attach*", "iam:create*", "iam:delete*", "iam:detach*", "iam:passrole", "iam:put*", "iam:remove*",
    "iam:set*", "iam:update*", "kms:creategrant", "kms:putkeypolicy", "s3:*acl", "s3:*bucketpolicy",
    "sqs:addpermission", "sqs:setqueueattributes", "sns:addpermission", "lambda:addpermission",
    "ecr:setrepositorypolicy", "secretsmanager:putresourcepolicy", "organizations:*",
)  # fmt: skip
"""Access level "Permissions management" in AWS's table, for services that this platform uses."""
ESCALATION: Final = (
    "iam:createpolicyversion", "iam:setdefaultpolicyversion", "iam:createaccesskey", "iam:createloginprofile",
    "iam:updateloginprofile", "iam:attach*policy", "iam:put*policy", "iam:addusertogroup", "iam:updateassumerolepolicy",
    "iam:passrole",
)  # fmt: skip
"""Each of these, on every resource, allows privilege escalation (Rhino Security Labs, "AWS IAM Privilege Escalation
Methods"; PassRole is part of most pairs in it)."""
RESTRICTABLE: Final = (
    "acm:describecertificate", "dynamodb:*", "ec2:getsecuritygroupsforvpc", "ecr:batchgetimage",
    "ecr:getdownloadurlforlayer", "eks:describe*", "iam:getinstanceprofile", "iam:getpolicy*", "iam:getrole*",
    "kms:describekey", "lambda:getfunction*", "logs:filterlogevents", "logs:getlogevents", "s3:getbucket*",
    "s3:listbucket", "sns:gettopicattributes", "sqs:getqueue*", "sqs:receivemessage",
)  # fmt: skip
"""Reads that can be limited to a resource (Service Authorization Reference), for services that this platform uses."""


def reads(action: str) -> bool:
    """Whether an action, in lower case, only reads: `ec2:describe*` does, `ec2:*` does not."""
    verb = action.partition(":")[2]
    return action not in _WRITES and verb.startswith(_VERBS + _MORE_VERBS)


def among(action: str, patterns: tuple[str, ...]) -> bool:
    """Whether an action, which may be a pattern, matches or covers one of the patterns."""
    return any(fnmatchcase(action, pattern) or fnmatchcase(pattern.rstrip("*"), action) for pattern in patterns)
