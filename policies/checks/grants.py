"""What an RBAC role allows, one verb on one resource at a time, and what one that the program adds may allow.

A wildcard is a grant of its own: `*` on `pods` is not in any list of verbs, so that nothing listed covers it. RBAC has
three: `*` in verbs, groups and resources, `*/scale` for a subresource of all resources, and `*` at the end of a URL
(kubernetes v1.36, pkg/apis/rbac/v1/evaluation_helpers.go). `resourceNames` limits a grant to objects of these names,
which may be those of the system, so it is left out.

A role of the program may have reads that reveal no credential, and a controller's own bookkeeping. Resources and verbs
are those of Kubernetes 1.36 (kubernetes.io, "API Overview"). What is left out on purpose: Secrets; subresources that
run or reach something (`pods/exec`, `nodes/proxy`: their `get` is a connection); requests for certificates; and every
change, because a pod has the permissions of any account of its namespace, and a webhook, a policy, a node or a volume
changes what others may do.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from policies.resources.access import Node, texts
from spec import strict_yaml


@dataclass(frozen=True, order=True)
class Grant:
    """One verb on one resource of a group, or on a URL that is none."""

    verb: str  # `get`; `*` for all
    group: str  # API group; empty for the core group and for a URL
    target: str  # `pods`, `pods/log`, or a URL, which begins with a slash

    @property
    def place(self) -> str:
        """What it is on: `pods`, `deployments.apps`, `pods/exec`, `/metrics`."""
        resource, slash, part = self.target.partition("/")
        return f"{resource}.{self.group}{slash}{part}" if self.group else self.target


def grants(rule: Node) -> Iterator[Grant]:
    """What a rule of a role allows; nothing for parts that a preview doesn't know."""
    verbs = sorted(texts(rule["verbs"].items()))
    for group in sorted(texts(rule["apiGroups"].items())):
        for resource in sorted(texts(rule["resources"].items())):
            yield from (Grant(verb, group, resource) for verb in verbs)
    for url in sorted(texts(rule["nonResourceURLs"].items())):
        yield from (Grant(verb, "", url) for verb in verbs)


def listed_by_place(found: list[Grant]) -> str:
    """Grants as text, by what they are on: `get, list on secrets; patch on nodes`."""
    by_place: dict[str, list[str]] = {}
    for grant in found:
        by_place.setdefault(grant.place, []).append(grant.verb)
    return "; ".join(f"{', '.join(verbs)} on {place}" for place, verbs in by_place.items())


SYSTEM: Final = frozenset({"kube-node-lease", "kube-public", "kube-system"})  # namespaces of Kubernetes
READS: Final = frozenset({"get", "list", "watch"})
_READ: Final[Mapping[str, Sequence[str]]] = strict_yaml.beside(__file__)
_URLS: Final = frozenset(
    f"{url}{part}"
    for url in ("/api", "/apis", "/healthz", "/livez", "/metrics", "/openapi", "/readyz", "/version")
    for part in ("", "/", "/*")
)
_ASKS: Final = frozenset(
    {
        # Whether a token or a request is valid: what a controller asks before it answers somebody.
        Grant("create", "authentication.k8s.io", "tokenreviews"),
        Grant("create", "authorization.k8s.io", "localsubjectaccessreviews"),
        Grant("create", "authorization.k8s.io", "selfsubjectaccessreviews"),
        Grant("create", "authorization.k8s.io", "selfsubjectrulesreviews"),
        Grant("create", "authorization.k8s.io", "subjectaccessreviews"),
    }
)
_NOTES: Final = frozenset(
    Grant(verb, group, "events") for verb in ("create", "patch", "update") for group in ("", "events.k8s.io")
)
_LEASES: Final = frozenset(
    Grant(verb, "coordination.k8s.io", "leases") for verb in ("create", "delete", "patch", "update")
)
_CUSTOM: Final = re.compile(r"[a-z0-9-]+(/(scale|status))?")  # a resource of somebody's own group, by name


def harmless(grant: Grant, namespace: str | None = None) -> bool:
    """Whether any controller may have it.

    Args:
        grant: What a role allows.
        namespace: The role's namespace; None for a ClusterRole, which may be bound in all.
    """
    if grant in _ASKS or grant in _NOTES:
        return True
    if grant in _LEASES:
        return namespace is not None and namespace not in SYSTEM
    if grant.target.startswith("/"):
        return grant.verb == "get" and grant.target in _URLS
    return grant.verb in READS and (grant.target in _READ.get(grant.group, ()) or _of_custom_group(grant))


def _of_custom_group(grant: Grant) -> bool:
    """Groups of Kubernetes have no dot or end in `.k8s.io`; custom resources hold no credentials: they refer to a
    Secret."""
    own = "." in grant.group and not grant.group.endswith(".k8s.io")
    return own and _CUSTOM.fullmatch(grant.target) is not None
