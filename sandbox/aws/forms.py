"""Forms of texts that the AWS provider checks at plan: ARNs, address ranges, documents, addresses.

Each is named by its check in hashicorp/terraform-provider-aws, internal/verify and internal/service/*/validate.go
at commit d5102ec2e1 (2023-12-18, read 2026-11-23); Regions of the European Sovereign Cloud (eusc-de-east-1) are later.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import json
import re
import zoneinfo
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import yaml

from spec import strict_yaml

_PARTITION: Final = re.compile(r"aws(-[a-z]+)*")
_REGION: Final = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d{1,2}")
_ACCOUNT: Final = re.compile(r"aws|aws-managed|aws-marketplace|third-party|\d{12}|cw.{10}")
USER_DATA_BYTES: Final = 16 * 1024
"""User data without its encoding (EC2 User Guide, "Run commands when you launch an EC2 instance with user data input",
read 2026-11).
"""


def problem(form: str, value: Any) -> str | None:
    """What is wrong with a value; None if it has the form. A document is also given as an object."""
    if isinstance(value, Mapping) and form not in _DOCUMENTS:
        return None
    return FORMS[form](value)


def _arn(value: Any) -> str | None:
    parts = str(value).split(":", 5)
    right = (
        len(parts) == 6 and parts[0] == "arn" and _PARTITION.fullmatch(parts[1]) and parts[5]
        and (not parts[3] or _REGION.fullmatch(parts[3])) and (not parts[4] or _ACCOUNT.fullmatch(parts[4]))
    )  # fmt: skip
    return None if right else f"must be an ARN, got {value!r}"


def _network(value: Any) -> str | None:
    """A range that is written with its first address (ValidCIDRNetworkAddress)."""
    text = str(value)
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return f"must be an address range, got {text!r}"
    if "/" not in text:
        return f"must be an address range, got {text!r}; did you mean {str(network)!r}?"
    given = ipaddress.ip_address(text.partition("/")[0])
    same = given == network.network_address and int(text.partition("/")[2]) == network.prefixlen
    return None if same else f"must be an address range, got {text!r}; did you mean {str(network)!r}?"


def _network4(value: Any) -> str | None:
    return _network(value) or (f"must be an IPv4 range, got {value!r}" if ":" in str(value) else None)


def _network6(value: Any) -> str | None:
    return _network(value) or (None if ":" in str(value) else f"must be an IPv6 range, got {value!r}")


def _address4(value: Any) -> str | None:
    try:
        ipaddress.IPv4Address(str(value))
    except ValueError:
        return f"must be an IPv4 address, got {value!r}"
    return None


def _base64(value: Any) -> str | None:
    try:
        base64.b64decode(str(value), validate=True)
    except binascii.Error:
        return "must be base64"
    return None


def _user_data(value: Any) -> str | None:
    wrong = _base64(value)
    if wrong:
        return wrong
    size = len(base64.b64decode(str(value)))
    return None if size <= USER_DATA_BYTES else f"must have {USER_DATA_BYTES} bytes at most, got {size}"


def _cron(value: Any) -> str | None:
    """Five fields, as EC2 Auto Scaling takes them."""
    return None if len(str(value).split()) == 5 else f"must be a cron expression of five fields, got {value!r}"


def _period(value: Any) -> str | None:
    """Seconds of a metric's period (cloudwatch/metric_alarm.go: 10, 20, 30, or a multiple of 60)."""
    number = int(value)
    return None if number in (10, 20, 30) or (number > 0 and number % 60 == 0) else f"must be a period, got {value}"


def _zone(value: Any) -> str | None:
    return None if str(value) in zoneinfo.available_timezones() else f"must be an IANA time zone, got {value!r}"


def _midnight(value: Any) -> str | None:
    """Lifecycle rules act at midnight (S3 API Reference, LifecycleExpiration Date)."""
    right = re.fullmatch(r"\d{4}-\d\d-\d\dT00:00:00(Z|\+00:00)", str(value))
    return None if right else f"must be a date at midnight UTC such as 2027-01-01T00:00:00Z, got {value!r}"


def _json(value: Any) -> str | None:
    return None if _parsed(value) is not None else f"must be JSON, got {str(value)[:40]!r}"


def _json_or_yaml(value: Any) -> str | None:
    try:
        parsed = strict_yaml.one(value) if isinstance(value, str) else value
    except yaml.YAMLError:
        parsed = None
    return None if isinstance(parsed, Mapping) else f"must be an object in JSON or YAML, got {str(value)[:40]!r}"


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return None


# Policy documents: the grammar of IAM and, of each kind, what it has and lacks
# (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html, read 2026-11).

_ELEMENTS: Final = frozenset(
    {"Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction", "Resource", "NotResource", "Condition"}
)
_PRINCIPALS: Final = frozenset({"AWS", "Service", "Federated", "CanonicalUser"})


_RESOURCE: Final = re.compile(r"\*|arn:|\$\{")
"""How a resource of a statement begins: also with a variable."""


def _policy(more: Callable[[Mapping[str, Any]], str | None], value: Any) -> str | None:
    document = _parsed(value)
    if not isinstance(document, Mapping):
        return f"must be a policy document in JSON, got {str(value)[:40]!r}"
    found = next(_wrong(document, more), None)
    return f"is a malformed policy document: {found}" if found else None


def _wrong(document: Mapping[str, Any], more: Callable[[Mapping[str, Any]], str | None]) -> Iterator[str]:
    if unknown := sorted(set(document) - {"Version", "Id", "Statement"}):
        yield f"it has no element {unknown[0]!r}"
    if document.get("Version") not in (None, "2008-10-17", "2012-10-17"):
        yield f"Version must be 2012-10-17 or 2008-10-17, got {document['Version']!r}"
    given = document.get("Statement") or []
    statements = [one for one in (given if isinstance(given, list) else [given]) if isinstance(one, Mapping)]
    if not statements or (isinstance(given, list) and len(statements) < len(given)):
        yield "it needs a Statement"
        return
    names = [one["Sid"] for one in statements if one.get("Sid")]
    if len(set(names)) < len(names):
        yield "statement IDs (Sid) must be unique"
    for one in statements:
        yield from (text for text in (_statement(one), more(one)) if text)


def _statement(one: Mapping[str, Any]) -> str | None:
    if unknown := sorted(set(one) - _ELEMENTS):
        return f"a statement has no element {unknown[0]!r}"
    if one.get("Effect") not in ("Allow", "Deny"):
        return f"Effect must be Allow or Deny, got {one.get('Effect')!r}"
    if ("Action" in one) == ("NotAction" in one):
        return "a statement needs Action or NotAction, and not both"
    wrong = [name for name in _actions(one) if name != "*" and ":" not in name]
    if wrong:
        return f"an action needs the prefix of its service, got {wrong[0]!r}"
    principal = one.get("Principal", "*")
    if isinstance(principal, Mapping):
        strange = sorted(set(principal) - _PRINCIPALS)
        return f"a principal is one of {', '.join(sorted(_PRINCIPALS))}, got {strange[0]!r}" if strange else None
    return None if principal == "*" else f'Principal must be an object or "*", got {principal!r}'


def _actions(one: Mapping[str, Any]) -> list[str]:
    given = one.get("Action", one.get("NotAction"))
    return [str(name) for name in (given if isinstance(given, list) else [given])]


def _sid(one: Mapping[str, Any]) -> str | None:
    """IAM User Guide, "IAM JSON policy elements: Sid": letters and digits. Policies of other services may have more."""
    return (
        None if re.fullmatch("[A-Za-z0-9]*", str(one.get("Sid") or "")) else f"Sid {one['Sid']!r} is not alphanumeric"
    )


def _of_identity(one: Mapping[str, Any]) -> str | None:
    if "Principal" in one or "NotPrincipal" in one:
        return "the policy of an identity has no Principal"
    if ("Resource" in one) == ("NotResource" in one):
        return "a statement needs Resource or NotResource"
    given = one.get("Resource", one.get("NotResource"))
    wrong = [one for one in map(str, given if isinstance(given, list) else [given]) if not _RESOURCE.match(one)]
    return f'a resource must be an ARN or "*", got {wrong[0]!r}' if wrong else _sid(one)


def _of_trust(one: Mapping[str, Any]) -> str | None:
    if "Resource" in one or "NotResource" in one:
        return "a trust policy has no Resource"
    wrong = [name for name in _actions(one) if name != "*" and not name.lower().startswith("sts:")]
    return f"a trust policy has actions of STS alone, got {wrong[0]!r}" if wrong else _with_principal(one) or _sid(one)


def _with_principal(one: Mapping[str, Any]) -> str | None:
    return None if "Principal" in one or "NotPrincipal" in one else "a statement needs a Principal"


_DOCUMENTS: Final = frozenset({"json", "json-or-yaml", "policy", "identity-policy", "trust-policy", "resource-policy"})
FORMS: Final[Mapping[str, Callable[[Any], str | None]]] = MappingProxyType(
    {
        "arn": _arn, "network": _network, "network4": _network4, "network6": _network6, "address4": _address4,
        "base64": _base64, "user-data": _user_data, "cron": _cron, "period": _period, "time-zone": _zone,
        "midnight": _midnight, "json": _json, "json-or-yaml": _json_or_yaml,
        "policy": partial(_policy, lambda _: None), "identity-policy": partial(_policy, _of_identity),
        "trust-policy": partial(_policy, _of_trust), "resource-policy": partial(_policy, _with_principal),
    }
)  # fmt: skip
"""By name: what is wrong with a value."""
