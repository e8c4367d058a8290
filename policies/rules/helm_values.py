"""Values of Helm charts: no other rule sees the pods of a chart, because a Release is one resource."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.checks.pods import node_software
from policies.evaluation.patterns import credentials
from policies.levels import Levels
from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.resources.tokens import RELEASE
from policies.rule import Check, Context, ResourceRule, Violation, violation

_SWITCHES: Final = ("privileged", "hostNetwork", "hostPID", "hostIPC", "allowPrivilegeEscalation")
_SECRET_WORDS: Final = ("password", "token", "secretkey", "apikey", "clientsecret")


def _maps(node: Node) -> Iterator[Node]:
    """The node and every map below it."""
    if isinstance(node.raw, dict):
        yield node
        for field in node.fields().values():
            yield from _maps(field)
    elif isinstance(node.raw, list):
        for item in node.items():
            yield from _maps(item)


def _exempt(release: Resource, context: Context) -> bool:
    namespace = release["namespace"]
    return namespace.unknown or namespace.raw in context.settings["privilegedNamespaces"]


def _host_access(release: Resource, context: Context) -> Iterator[Violation]:
    for node in () if _exempt(release, context) else _maps(release["values"]):
        for key in _SWITCHES:
            if key in node.raw and node[key].raw is True:
                yield violation(node[key])


def _as_root(release: Resource, context: Context) -> Iterator[Violation]:
    for node in () if _exempt(release, context) else _maps(release["values"]):
        if node["runAsUser"].raw == 0:
            yield violation(node["runAsUser"])


def _unbounded(release: Resource, _: Context) -> Iterator[Violation]:
    for node in _maps(release["values"]):
        resources = node["resources"]
        requests = resources["requests"] if isinstance(resources.raw, dict) else resources
        # Volume claims have `resources` as well, with storage only.
        computes = isinstance(requests.raw, dict) and {"cpu", "memory"}.intersection(requests.raw)
        if computes and resources["limits"]["memory"].missing:
            yield violation(resources["limits"])


def _floating(release: Resource, _: Context) -> Iterator[Violation]:
    for node in _maps(release["values"]):
        if node["tag"].raw == "latest":
            yield violation(node["tag"])


def _plain_secret(release: Resource, _: Context) -> Iterator[Violation]:
    for node in _maps(release["values"]):
        for key, value in node.fields().items():
            named = key.lower() in _SECRET_WORDS and isinstance(value.raw, str) and value.raw != ""
            if named and not any(credentials(str(value.raw))):
                yield Violation(path=value.path, got="plain text")


HARDENED = ResourceRule(
    name="helm-values-hardened",
    title="Helm values request nothing that the rules for pods forbid",
    types=(RELEASE,),
    severity=Severity.HIGH,
    levels=Levels("A/M/M"),
    why="A Release is one resource, so the rules for pods don't see its pods.",
    fix="Remove the value; node software belongs in a namespace of the setting, a secret in a Secret.",
    settings=node_software(),
    checks={
        "isolated": Check(
            asks="must be false",
            find=_host_access,
        ),
        "user": Check(
            asks="must not be 0",
            find=_as_root,
        ),
        "memory": Check(
            asks="must limit memory",
            find=_unbounded,
        ),
        "image": Check(
            asks="must be a fixed version",
            find=_floating,
        ),
        "secret": Check(
            asks="must be in a Secret",
            find=_plain_secret,
            external_ids=("KSV-0109",),
        ),
    },
)

RULES = (HARDENED,)
