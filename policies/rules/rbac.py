"""RBAC: least privilege of roles and bindings, and no privilege escalation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any, Final

from pulumi_policy import Severity

from policies.levels import Levels
from policies.resources.access import Node, texts
from policies.resources.resource import Resource
from policies.resources.tokens import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, NAMESPACE_ROLE, ROLE_BINDING
from policies.rule import Check, Context, ResourceRule, Setting, Violation, everywhere, violation

_ROLES: Final = (CLUSTER_ROLE, NAMESPACE_ROLE)
_BINDINGS: Final = (CLUSTER_ROLE_BINDING, ROLE_BINDING)


_SYSTEM: Final = ("system:masters", "system:anonymous", "system:unauthenticated")


def _lists(rule: Node) -> tuple[set[str], set[str]]:
    return texts(rule["verbs"].items()), texts(rule["resources"].items())


def _grants(verbs: tuple[str, ...], *resources: str) -> Callable[[Resource, Context], Iterator[Violation]]:
    """A role must not grant any of these verbs on any of these resources."""

    def find(role: Resource, _: Context) -> Iterator[Violation]:
        for rule in role["rules"].items() if role.type in _ROLES else ():
            granted, on = _lists(rule)
            hit = sorted(on.intersection(resources))
            if granted.intersection(verbs) and hit:
                yield violation(rule["resources"], f"granting {', '.join(sorted(granted))} on {', '.join(hit)}")

    return find


def _everything(role: Resource, _: Context) -> Iterator[Violation]:
    for rule in role["rules"].items() if role.type in _ROLES else ():
        for key in ("verbs", "resources", "apiGroups"):
            if "*" in texts(rule[key].items()):
                yield violation(rule[key])


def _escalates(role: Resource, _: Context) -> Iterator[Violation]:
    for rule in role["rules"].items() if role.type in _ROLES else ():
        verbs = sorted(_lists(rule)[0].intersection(("escalate", "bind", "impersonate")))
        if verbs:
            yield violation(rule["verbs"], f"granting {', '.join(verbs)}")


def _cluster_admin(binding: Resource, context: Context) -> Iterator[Violation]:
    role = binding["roleRef"]["name"]
    allowed = any(fnmatchcase(binding.name, pattern) for pattern in context.settings["administrators"])
    if binding.type in _BINDINGS and role.raw == "cluster-admin" and not allowed:
        yield violation(role)


def _system(binding: Resource, _: Context) -> Iterator[Violation]:
    for subject in binding["subjects"].items() if binding.type in _BINDINGS else ():
        if subject["name"].raw in _SYSTEM:
            yield violation(subject["name"])


def _default_account(binding: Resource, _: Context) -> Iterator[Violation]:
    """Every pod that names no account has this one."""
    for subject in binding["subjects"].items() if binding.type in _BINDINGS else ():
        if subject["kind"].raw == "ServiceAccount" and subject["name"].raw == "default":
            yield violation(subject["name"])


def _forbidden(asks: str, verbs: tuple[str, ...], resources: tuple[str, ...], *external_ids: str) -> Check[Resource]:
    return Check(
        asks=asks,
        find=_grants(verbs, *resources),
        external_ids=external_ids,
    )


_GLOBS: Final[dict[str, Any]] = {"type": "array", "items": {"type": "string"}}

RBAC_LEAST = ResourceRule(
    name="rbac-least",
    title="RBAC roles name their verbs and resources, and allow no privilege escalation",
    types=(*_ROLES, *_BINDINGS),
    severity=Severity.HIGH,
    levels=Levels("A/M/M"),
    why="Permission to read Secrets, create pods in other namespaces or bind roles is equivalent to administrator "
    "access.",
    fix="Name verbs and resources, and grant each controller only what its own manifests need.",
    settings={
        "administrators": Setting(
            asks="globs of allowed bindings to cluster-admin", schema=_GLOBS, values=everywhere([])
        )
    },
    checks={
        "wildcard": Check(
            asks="must not be '*'",
            find=_everything,
            external_ids=("CKV_K8S_49", "KSV-0044", "KSV-0045", "KSV-0046", "CIS-4.1.3"),
        ),
        "secrets": _forbidden(
            "must not allow reading Secrets",
            ("get", "list", "watch"),
            ("secrets",),
            "CKV2_K8S_5",
            "KSV-0041",
            "KSV-0113",
            "CIS-4.1.2",
        ),
        "escalation": Check(
            asks="must not allow privilege escalation",
            find=_escalates,
            external_ids=("CKV_K8S_157", "CKV_K8S_158", "CKV2_K8S_1", "CKV2_K8S_3", "KSV-0050", "CIS-4.1.8"),
        ),
        "bindings": _forbidden(
            "must not allow creating or changing bindings",
            ("create", "update", "patch"),
            ("rolebindings", "clusterrolebindings"),
            "CKV2_K8S_1",
        ),
        "webhooks": _forbidden(
            "must not allow changing admission webhooks",
            ("create", "update", "patch"),
            ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"),
            "CKV_K8S_155",
            "KSV-0114",
            "CIS-4.1.11",
        ),
        "certificates": _forbidden(
            "must not allow approving certificate signing requests",
            ("update", "patch"),
            ("certificatesigningrequests/approval",),
            "CKV_K8S_156",
        ),
        "signers": _forbidden(
            "must not allow approving for signers",
            ("approve",),
            ("signers",),
            "CKV_K8S_156",
        ),
        "nodes": _forbidden(
            "must not allow the proxy of nodes",
            ("get", "create"),
            ("nodes/proxy",),
            "CKV2_K8S_2",
            "KSV-0047",
            "CIS-4.1.10",
        ),
        "exec": _forbidden(
            "must not allow exec into pods",
            ("create", "get"),
            ("pods/exec", "pods/attach"),
            "CKV2_K8S_2",
            "KSV-0053",
        ),
        "status": _forbidden(
            "must not allow changing the status of Services and nodes",
            ("update", "patch"),
            ("services/status", "nodes/status"),
            "CKV2_K8S_4",
        ),
        "volumes": _forbidden(
            "must not allow creating PersistentVolumes", ("create",), ("persistentvolumes",), "CIS-4.1.9"
        ),
        "tokens": _forbidden(
            "must not allow creating service account tokens", ("create",), ("serviceaccounts/token",), "CIS-4.1.12"
        ),
        "admin": Check(
            asks="must not be cluster-admin",
            find=_cluster_admin,
            external_ids=("KSV-0111", "CIS-4.1.1"),
        ),
        "default-account": Check(
            asks="must not be the default service account",
            find=_default_account,
            external_ids=("CKV_K8S_42", "CIS-4.1.5"),
        ),
        "system": Check(
            asks="must not be a system group",
            find=_system,
            external_ids=("KSV-0122", "KSV-0123"),
        ),
    },
)

RULES = (RBAC_LEAST,)
