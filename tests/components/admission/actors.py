"""Who asks: members of a team, the platform's administrators, and controllers with their service accounts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from components.base.controllers import username
from components.tenancy.roles import cluster_role_manifest, group, role_binding
from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.objects import Ref
from spec.settings.teams import MemberRole
from tests.components.admission.samples import Object
from tests.support.cases import beside

DATA: Final = beside(__file__)
TEAM: Final = "vision"
EDIT: Final = "edit"
ADMIN: Final = "admin"
PLATFORM: Final = "platform"
ACCOUNTS: Final[Mapping[str, tuple[str, str]]] = DATA["accounts"]


@dataclass(frozen=True)
class Act:
    """One request."""

    what: str  # what the actor does
    actor: str  # who asks
    manifest: Object  # the object, or what a PATCH merges into it
    rule: str = ""  # the rule that refuses it, or another part of the error; empty if it is accepted
    method: str = field(default="POST", kw_only=True)  # POST creates, PATCH changes
    before: Object | None = field(default=None, kw_only=True)  # the object that exists already
    subresource: str = field(default="", kw_only=True)  # `scale`, for example


def headers(actor: str) -> dict[str, str]:
    """Headers of a request as this actor; the API server then evaluates its permissions and `userInfo`."""
    if actor == PLATFORM:
        return {}
    if actor in ACCOUNTS:
        return {"Impersonate-User": username(*ACCOUNTS[actor])}
    return {"Impersonate-User": "someone", "Impersonate-Group": group(TEAM, MemberRole(actor))}


def permissions(namespace: str) -> list[Object]:
    """Roles of members as a stack declares them; controllers may do everything, so that only rules refuse them."""
    bindings: list[dict[str, Any]] = [role_binding(namespace, TEAM, MemberRole(role)) for role in (EDIT, ADMIN)]
    return [
        *(cluster_role_manifest(MemberRole(role)) for role in (EDIT, ADMIN)),
        *bindings,
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "controllers-of-acts"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [
                {"kind": "ServiceAccount", "namespace": namespace, "name": name}
                for namespace, name in ACCOUNTS.values()
            ],
        },
    ]


def request(
    client: KubeClient, actor: str, method: str, manifest: Object, *, subresource: str = "", dry_run: bool = True
) -> str:
    """The error for a request, or an empty string if the API server accepts it. A PATCH merges the manifest."""
    ref = Ref.of({**manifest, "apiVersion": "v1", "kind": "Pod"} if subresource == "eviction" else manifest)
    resource = client.discovery.find(ref.api_version, ref.kind)
    path = resource.path(ref.namespace, "" if method == "POST" and not subresource else ref.name) + (
        f"/{subresource}" if subresource else ""
    )
    content = {"content_type": "application/merge-patch+json"} if method == "PATCH" else {}
    body = {"spec": manifest["spec"]} if subresource == "scale" else manifest
    parameters = {"dryRun": "All"} if dry_run else {}
    try:
        client.call(method, path, body, parameters, headers=headers(actor), **content)
    except ApiError as error:
        return error.message
    return ""
