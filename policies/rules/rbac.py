"""Rights inside the cluster: nobody may do everything, and nobody may become somebody who may."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any, Final

from pulumi_policy import Severity

from policies.access import Node, texts
from policies.levels import Levels
from policies.resource import Resource
from policies.rule import Check, Context, ResourceRule, Setting, Violation, everywhere, violation
from policies.tokens import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, NAMESPACE_ROLE, ROLE_BINDING

_ROLES: Final = (CLUSTER_ROLE, NAMESPACE_ROLE)
_BINDINGS: Final = (CLUSTER_ROLE_BINDING, ROLE_BINDING)


_SYSTEM: Final = ("system:masters", "system:anonymous", "system:unauthenticated")


def _lists(rule: Node) -> tuple[set[str], set[str]]:
    return texts(rule["verbs"].items()), texts(rule["resources"].items())


def _gives(verbs: tuple[str, ...], *resources: str) -> Callable[[Resource, Context], Iterator[Violation]]:
    """A role must not give any of these verbs on any of these resources."""

    def find(role: Resource, _: Context) -> Iterator[Violation]:
        for rule in role["rules"].items() if role.type in _ROLES else ():
            given, of = _lists(rule)
            hit = sorted(of.intersection(resources))
            if given.intersection(verbs) and hit:
                yield violation(rule["resources"], f"giving {', '.join(sorted(given))} on {', '.join(hit)}")

    return find


def _everything(role: Resource, _: Context) -> Iterator[Violation]:
    for rule in role["rules"].items() if role.type in _ROLES else ():
        for key in ("verbs", "resources"):
            if "*" in texts(rule[key].items()):
                yield violation(rule[key])


def _raises(role: Resource, _: Context) -> Iterator[Violation]:
    for rule in role["rules"].items() if role.type in _ROLES else ():
        found = sorted(_lists(rule)[0].intersection(("escalate", "bind", "impersonate")))
        if found:
            yield violation(rule["verbs"], f"giving {', '.join(found)}")


def _administrators(binding: Resource, context: Context) -> Iterator[Violation]:
    role = binding["roleRef"]["name"]
    allowed = any(fnmatchcase(binding.name, pattern) for pattern in context.settings["administrators"])
    if binding.type in _BINDINGS and role.raw == "cluster-admin" and not allowed:
        yield violation(role)


def _system(binding: Resource, _: Context) -> Iterator[Violation]:
    for subject in binding["subjects"].items() if binding.type in _BINDINGS else ():
        if subject["name"].raw in _SYSTEM:
            yield violation(subject["name"])


def _forbidden(asks: str, verbs: tuple[str, ...], resources: tuple[str, ...], *external_ids: str) -> Check[Resource]:
    return Check(
        asks=asks,
        find=_gives(verbs, *resources),
        external_ids=external_ids,
    )


_NOBODY: Final[dict[str, Any]] = {"type": "array", "items": {"type": "string"}}

RBAC_LEAST = ResourceRule(
    name="rbac-least",
    title="A role inside the cluster names what it is for, and none leads to another",
    types=(*_ROLES, *_BINDINGS),
    severity=Severity.HIGH,
    levels=Levels("A/M/M"),
    why="Who may read secrets, make pods in other namespaces or bind roles is an administrator by another name.",
    fix="Name verbs and resources, and give each controller only what its own manifests ask for.",
    settings={
        "administrators": Setting(
            asks="globs of bindings to cluster-admin that are meant", schema=_NOBODY, values=everywhere([])
        )
    },
    checks={
        "wildcard": Check(
            asks="must not be everything",
            find=_everything,
            external_ids=("CKV_K8S_49", "KSV-0044", "KSV-0045", "KSV-0046", "CIS-4.1.3"),
        ),
        "secrets": _forbidden(
            "must not read secrets",
            ("get", "list", "watch"),
            ("secrets",),
            "CKV2_K8S_5",
            "KSV-0041",
            "KSV-0113",
            "CIS-4.1.2",
        ),
        "escalation": Check(
            asks="must not raise anybody's rights",
            find=_raises,
            external_ids=("CKV_K8S_157", "CKV_K8S_158", "CKV2_K8S_3", "KSV-0050", "CIS-4.1.8"),
        ),
        "bindings": _forbidden(
            "must not make bindings",
            ("create", "update", "patch"),
            ("rolebindings", "clusterrolebindings"),
            "CKV2_K8S_1",
        ),
        "webhooks": _forbidden(
            "must not change admission",
            ("create", "update", "patch"),
            ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"),
            "CKV_K8S_155",
            "KSV-0114",
            "CIS-4.1.11",
        ),
        "certificates": _forbidden(
            "must not approve certificates",
            ("update", "patch"),
            ("certificatesigningrequests/approval",),
            "CKV_K8S_156",
        ),
        "nodes": _forbidden(
            "must not reach through nodes", ("get", "create"), ("nodes/proxy",), "CKV2_K8S_2", "KSV-0047", "CIS-4.1.10"
        ),
        "exec": _forbidden("must not enter pods", ("create", "get"), ("pods/exec", "pods/attach"), "KSV-0053"),
        "status": _forbidden(
            "must not point services elsewhere", ("update", "patch"), ("services/status", "nodes/status"), "CKV2_K8S_4"
        ),
        "volumes": _forbidden("must not make volumes", ("create",), ("persistentvolumes",), "CIS-4.1.9"),
        "tokens": _forbidden("must not make tokens", ("create",), ("serviceaccounts/token",), "CIS-4.1.12"),
        "admin": Check(
            asks="must not be cluster-admin",
            find=_administrators,
            external_ids=("KSV-0111", "CIS-4.1.1"),
        ),
        "system": Check(
            asks="must not be a group of the system",
            find=_system,
            external_ids=("KSV-0122", "KSV-0123"),
        ),
    },
)

RULES = (RBAC_LEAST,)
