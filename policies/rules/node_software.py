"""Node software: AMI and when it is updated, user data and SSH access."""

import re
from collections.abc import Iterator
from typing import Any, Final

from policies.checks.pools import gpus_of
from policies.evaluation import texts
from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.resources.tokens import INSTANCE, LAUNCH_CONFIGURATION, LAUNCH_TEMPLATE, NODE_CLASS, NODE_GROUP, NODE_POOL
from policies.rule import Context, ResourceRule, Violation, setting, violation
from spec.catalog.credentials import credentials


def _ssh_access(machine: Resource, _: Context) -> Iterator[Violation]:
    access = machine["keyName"] if machine.type == LAUNCH_TEMPLATE else machine["remoteAccess"]
    if access.known:
        yield violation(access)


NO_SSH = ResourceRule(
    name="node-no-ssh",
    types=(NODE_GROUP, LAUNCH_TEMPLATE),
    finds={"key": _ssh_access},
)


_WEAK: Final[dict[str, Any]] = {
    # Setting -> is this value weak? CIS EKS 1.8.0, 3.2.1 to 3.2.9; every setting as configuration and as flag.
    "anonymous.enabled": lambda value: value is True,
    "anonymous-auth": lambda value: value is True,
    "authorization.mode": lambda value: value == "AlwaysAllow",
    "authorization-mode": lambda value: value == "AlwaysAllow",
    "clientCAFile": lambda value: not value,
    "client-ca-file": lambda value: not value or value is True,
    "readOnlyPort": lambda value: value != 0,
    "read-only-port": lambda value: value != 0,
    "streamingConnectionIdleTimeout": lambda value: str(value) in {"0", "0s"},
    "streaming-connection-idle-timeout": lambda value: str(value) in {"0", "0s"},
    "makeIPTablesUtilChains": lambda value: value is False,
    "make-iptables-util-chains": lambda value: value is False,
    "eventRecordQPS": lambda value: value == 0,
    "event-qps": lambda value: value == 0,
    "rotateCertificates": lambda value: value is False,
    "rotate-certificates": lambda value: value is False,
    "RotateKubeletServerCertificate": lambda value: value is False,
}


def _weak(key: str, value: Any) -> bool:
    name = key.removeprefix("--")
    if name == "feature-gates":
        return "RotateKubeletServerCertificate=false" in str(value)
    return any(name == weak or name.endswith(f".{weak}") for weak, test in _WEAK.items() if test(value))


def _texts(machine: Resource) -> Iterator[tuple[str, str]]:
    body = machine["spec"] if machine.type == NODE_CLASS else machine.props
    for node in (body["userData"], body["userDataBase64"]):
        text = node.text()
        if text is not None:
            yield node.path, texts.decoded(text)


def _credentials(machine: Resource, _: Context) -> Iterator[Violation]:
    for path, text in _texts(machine):
        for form in credentials(text):
            yield Violation(path=path, got=f"a text with what looks like a credential ({form})")


def _weakened(machine: Resource, _: Context) -> Iterator[Violation]:
    for path, text in _texts(machine):
        for key, value in texts.kubelet(text):
            if _weak(key, value):
                yield Violation(path=path, got=f"{key}: {value!r}")


_PIPED: Final = re.compile(r"\b(curl|wget)\b[^\n;&]*\|\s*(sudo\s+)?([a-z/]*/)?(ba|da|z|k)?sh\b")


def _fetched(machine: Resource, _: Context) -> Iterator[Violation]:
    for path, text in _texts(machine):
        if found := _PIPED.search(text):
            yield Violation(path=path, got=f"{found[0]!r}")


USER_DATA = ResourceRule(
    name="node-userdata-clean",
    types=(LAUNCH_TEMPLATE, NODE_CLASS, INSTANCE, LAUNCH_CONFIGURATION),
    finds={
        "credentials": _credentials,
        "fetched": _fetched,
        "kubelet": _weakened,
    },
)


def _floating(machine: Resource, context: Context) -> Iterator[Violation]:
    if not context.settings["pinned"]:
        return
    if machine.type == NODE_GROUP:
        if machine["amiType"].is_not("CUSTOM") and machine["releaseVersion"].missing:
            yield violation(machine["releaseVersion"])
        return
    for term in machine["spec"]["amiSelectorTerms"].items():
        alias = term["alias"].text()
        if alias is not None and alias.endswith("@latest"):
            yield violation(term["alias"])


def _unknown_owners(machine: Resource, context: Context) -> Iterator[Violation]:
    """An image selected by name or tags can belong to any account."""
    if machine.type == NODE_CLASS:
        for term in machine["spec"]["amiSelectorTerms"].items():
            by_name = not term["name"].missing or not term["tags"].missing
            owner = term["owner"]
            if (by_name and owner.missing) or (owner.known and owner.raw not in context.settings["owners"]):
                yield violation(owner)


def _ended(machine: Resource, _: Context) -> Iterator[Violation]:
    if machine.type == NODE_GROUP and str(machine["amiType"].raw).startswith("AL2_"):
        yield violation(machine["amiType"])


def _without_driver(machine: Resource, _: Context) -> Iterator[Violation]:
    if machine.type == NODE_GROUP and gpus_of(machine):
        ami = machine["amiType"].text()
        if ami is not None and ami != "CUSTOM" and "NVIDIA" not in ami:
            yield violation(machine["amiType"])


AMI_PINNED = ResourceRule(
    name="node-ami-pinned",
    types=(NODE_GROUP, NODE_CLASS),
    settings={
        "pinned": setting("whether images must be pinned", False, False, True),
        "owners": setting(
            "accounts whose images may be selected: IDs, or Karpenter's names for AWS and the stack's account",
            ["amazon", "self"],
        ),
    },
    finds={
        "pinned": _floating,
        "owner": _unknown_owners,
        "supported": _ended,
        "driver": _without_driver,
    },
)


def _any_time(pool: Resource, _: Context) -> Iterator[Violation]:
    """Of the budgets in effect at a time, the strictest applies: so one that admits no node makes a window."""
    budgets = pool["spec"]["disruption"]["budgets"]
    if budgets.unknown or any(budget.unknown or _closes(budget) for budget in budgets.items()):
        return
    yield violation(budgets, "without a time in which no node is replaced")


def _closes(budget: Node) -> bool:
    reasons = budget["reasons"].items()
    for_drift = not reasons or any(reason.unknown or reason.raw == "Drifted" for reason in reasons)
    return for_drift and not budget["nodes"].is_not("0", "0%") and not budget["schedule"].missing


DRIFT_WINDOW = ResourceRule(
    name="karpenter-drift-window",
    types=(NODE_POOL,),
    finds={"window": _any_time},
)
