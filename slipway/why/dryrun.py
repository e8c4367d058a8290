"""Whether the API server would accept a manifest and its pods: requests of a dry run, with a team member's rights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from components.admission.queued import GATE
from components.tenancy.roles import group
from components.workloads.metadata import QUEUE
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.errors import ApiError, NoSuchKindError
from slipway.sandbox.kubernetes.objects import Ref
from slipway.why.podsets import PodSet, podsets
from spec.settings.teams import MemberRole
from spec.teams.labels import TEAM

Object = Mapping[str, Any]
USER: Final = "slipway-why"
"""Name under which an administrator's dry run acts as a member of a team."""
_OPTIONS: Final = {"dryRun": "All", "fieldValidation": "Strict", "fieldManager": USER}


@dataclass(frozen=True)
class Outcome:
    """Result of the dry run of one object.

    Attributes:
        message: The API server's error; empty if it accepts the object.
        about: `job/train`, or its pod template.
        exists: Whether an object of the name exists.
    """

    message: str = ""
    about: str = ""
    exists: bool = False


class DryRun:
    """Dry runs in one namespace.

    Attributes:
        member: Whose rights they have: a group, or empty for those of the user.
    """

    def __init__(self, client: KubeClient, namespace: str, team: str | None = None) -> None:
        self._client, self._namespace = client, namespace
        owner = team or self._team()
        self.member = group(owner, MemberRole.EDIT) if owner else ""
        if self.member and not self._may_impersonate():
            self.member = ""

    def of(self, manifest: Object) -> Outcome:
        """Create the object, and a pod of each of its templates as its controller would, without keeping them."""
        name = str((manifest.get("metadata") or {}).get("name") or "")
        about = f"{str(manifest.get('kind')).lower()}/{name}"
        metadata = {**(manifest.get("metadata") or {})}
        try:
            namespaced = self._client.discovery.find(
                str(manifest.get("apiVersion")), str(manifest.get("kind"))
            ).namespaced
        except NoSuchKindError as error:
            return Outcome(f"{error}: the cluster has no CustomResourceDefinition of it", about)
        if namespaced:
            metadata["namespace"] = self._namespace
        message, status = self._create({**manifest, "metadata": metadata})
        exists = status == HTTPStatus.CONFLICT
        if message and not exists:
            return Outcome(message, about)
        if manifest.get("kind") == "Pod":
            return Outcome(exists=exists)
        for one in podsets(manifest):
            message, _ = self._create(self._pod(manifest, one))
            if message:
                return Outcome(message, f"a pod of {about} (template {one.name})", exists)
        return Outcome(exists=exists)

    def missing(self, api_version: str, kind: str, names: Sequence[str]) -> list[str]:
        """Names of objects that the namespace does not have; none if they can't be read."""
        try:
            return [one for one in names if self._client.get(Ref(api_version, kind, one, self._namespace)) is None]
        except (ApiError, NoSuchKindError):
            return []

    def names(self, api_version: str, kind: str) -> list[str]:
        """Names of the objects of a kind in the namespace; none if they can't be read."""
        try:
            found = self._client.list(self._client.discovery.find(api_version, kind), self._namespace)
            return sorted(str(one["metadata"]["name"]) for one in found)
        except (ApiError, NoSuchKindError):
            return []

    def _pod(self, manifest: Object, one: PodSet) -> dict[str, Any]:
        """A pod of a template; one that Kueue will hold has its gate, which a member's own pod needs, too."""
        queue = ((manifest.get("metadata") or {}).get("labels") or {}).get(QUEUE)
        labels = {**(one.metadata.get("labels") or {}), **({QUEUE: queue} if queue else {})}
        gates = [*(one.spec.get("schedulingGates") or ()), *([{"name": f"{GATE}admission"}] if queue else [])]
        metadata = {"generateName": "slipway-why-", "namespace": self._namespace, "labels": labels}
        if one.metadata.get("annotations"):
            metadata["annotations"] = one.metadata["annotations"]
        spec = {**one.spec, **({"schedulingGates": gates} if gates else {})}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

    def _create(self, manifest: Object) -> tuple[str, int]:
        resource = self._client.discovery.find(str(manifest["apiVersion"]), str(manifest["kind"]))
        path = resource.path(str(manifest["metadata"].get("namespace") or ""))
        try:
            self._client.call("POST", path, manifest, _OPTIONS, headers=self._headers())
        except ApiError as error:
            return error.message, error.status
        return "", HTTPStatus.CREATED

    def _headers(self) -> dict[str, str]:
        return {"Impersonate-User": USER, "Impersonate-Group": self.member} if self.member else {}

    def _team(self) -> str:
        try:
            found = self._client.metadata(Ref("v1", "Namespace", self._namespace))
        except ApiError:
            return ""
        return str(((found or {}).get("metadata", {}).get("labels") or {}).get(TEAM) or "")

    def _may_impersonate(self) -> bool:
        """A member may not: the dry run then has the member's own rights."""
        attributes = {"verb": "impersonate", "resource": "groups", "name": self.member}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        try:
            answer = self._client.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
        except ApiError:
            return False
        return bool((answer.get("status") or {}).get("allowed"))
