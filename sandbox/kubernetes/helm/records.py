"""Helm's own records of a release: one Secret for each revision (helm.sh, "Storage backends")."""

import base64
import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.helm.manifest import flat
from sandbox.kubernetes.helm.text import documents
from sandbox.kubernetes.objects import Object, Ref

SECRET_TYPE = "helm.sh/release.v1"  # noqa: S105
OWNER = "meta.helm.sh/release-name"
"""Annotation of an object of a release (helm.sh, "Labels and annotations")."""


@dataclass(frozen=True)
class ReleaseName:
    """A release's name and namespace."""

    name: str
    namespace: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True)
class Revision:
    """The newest revision of a release: its number, its state (`deployed`, `pending-install`, ...) and its content."""

    number: int
    state: str
    content: Mapping[str, Any]

    @property
    def chart(self) -> Mapping[str, Any]:
        """The chart's metadata."""
        metadata: Mapping[str, Any] = self.content["chart"]["metadata"]
        return metadata

    @property
    def values(self) -> Mapping[str, Any]:
        """The values that the release was given."""
        return self.content.get("config") or {}

    def objects(self) -> Iterator[Object]:
        """What was installed, as rendered, in Helm's order, without hooks."""
        for document in documents(str(self.content.get("manifest") or ""), "the record of the release"):
            yield from flat(document)

    def hooks(self) -> Iterator[Object]:
        """The objects of its hooks."""
        for hook in self.content.get("hooks") or ():
            yield from documents(str(hook.get("manifest") or ""), "a hook of the release")


def newest(client: KubeClient, release: ReleaseName) -> Revision | None:
    """The newest revision; None if Helm knows no release of the name. Raises ApiError."""
    resource = client.discovery.find("v1", "Secret")
    found = client.list(resource, release.namespace, f"owner=helm,name={release.name}")
    revisions = {int(each["metadata"]["labels"]["version"]): each for each in found if each.get("type") == SECRET_TYPE}
    if not revisions:
        return None
    number = max(revisions)
    secret = revisions[number]
    return Revision(number, secret["metadata"]["labels"]["status"], _content(secret["data"]["release"]))


def installed_version(client: KubeClient, obj: Object) -> str:
    """The version of the chart that installed an object with containers, else the tag of its first image."""
    metadata = obj["metadata"]
    annotations = metadata.get("annotations") or {}
    if OWNER not in annotations:
        image = str(obj["spec"]["template"]["spec"]["containers"][0].get("image") or "")
        return image.partition("@")[0].rpartition(":")[2]
    revision = newest(client, ReleaseName(annotations[OWNER], metadata["namespace"]))
    return str(revision.chart.get("version") or "") if revision is not None else ""


def resource_names(objects: Iterator[Object]) -> dict[str, list[str]]:
    """Names by kind and version (`Deployment.apps/apps/v1`), as in the official provider's output `resourceNames`.

    Source: pulumi/pulumi-kubernetes, provider/pkg/provider/manifest_json.go (2026-07).
    """
    names: dict[str, set[str]] = {}
    for obj in objects:
        ref = Ref.of(obj)
        kind = f"{ref.kind}.{ref.group}" if ref.group else ref.kind
        where = f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name
        names.setdefault(f"{kind}/{ref.api_version}", set()).add(where)
    return {key: sorted(found) for key, found in sorted(names.items())}


def _content(data: str) -> Mapping[str, Any]:
    # Kubernetes encodes the value of a Secret, and Helm encoded it before.
    packed = base64.b64decode(base64.b64decode(data))
    content: Mapping[str, Any] = json.loads(gzip.decompress(packed))
    return content
