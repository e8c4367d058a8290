"""Asks the API server of a cluster with what stack prod declares for its teams: roles, limits, rules."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.objects import Ref
from spec.teams.labels import ADMISSION, PRIORITIES
from tests.adversary.independent.platform import EXTRA
from tests.adversary.objects import HERE
from tests.adversary.probe import Object, Request
from tests.components.admission.actors import headers, permissions
from tests.components.admission.samples import CUSTOM, definition
from tests.sandbox.plane import CLUSTER, ControlPlane, start_plane
from tests.support.definitions import define
from tests.support.stacks import recorded

STACK: Final = "prod"
_DECLARED: Final = ("Namespace", "PriorityClass", "ClusterRole", "RoleBinding", "ResourceQuota", "LimitRange",
    "NetworkPolicy", "ServiceAccount", "ConfigMap", "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding")  # fmt: skip
"""Kinds, in the order in which they are created."""
_MORE: Final = {
    "LocalQueue": ("kueue.x-k8s.io", "v1beta2", "localqueues"),
    "Workload": ("kueue.x-k8s.io", "v1beta2", "workloads"),
}
SECONDS: Final = 60.0
MALFORMED: Final = ("is invalid", "strict decoding error", "unknown field", "json: cannot")
"""Parts of refusals of objects that nobody could create: such a probe tries nothing."""


def declared() -> list[Object]:
    """Objects of the stack that bind its teams."""
    found: list[tuple[int, Object]] = []
    for resource in recorded(STACK):
        kind = resource.type.rpartition(":")[2]
        name = resource.inputs.plain.get("metadata", {}).get("name")
        if resource.type.startswith("kubernetes:") and kind in _DECLARED and (kind != "ConfigMap" or name == ADMISSION):
            found.append((_DECLARED.index(kind), dict(resource.inputs.plain)))
    manifests = [manifest for _, manifest in sorted(found, key=lambda one: one[0])]
    return [narrowed(one) if one["metadata"]["name"] == HERE else one for one in manifests]


def narrowed(namespace: Object) -> Object:
    """The namespace of a team with one priority class: those of prod may use all."""
    metadata = namespace["metadata"]
    return {**namespace, "metadata": {**metadata, "annotations": {**metadata["annotations"], PRIORITIES: "experiment"}}}


def prepare(client: KubeClient, probes: Sequence[Request]) -> None:
    """Install what the stack declares, and what exists before the acts."""
    define(client, [definition(kind) for kind in CUSTOM])
    define(client, [approved(definition(kind, *names)) for kind, names in {**_MORE, **EXTRA}.items()])
    manifests = declared()
    guards = [one for one in manifests if one["kind"].startswith("ValidatingAdmission")]
    for manifest in [*manifests, permissions(HERE)[-1]]:
        if manifest not in guards:
            client.apply(manifest, "adversary", force=True)
    for index, probe in enumerate(probes):
        if probe.before is not None:
            client.apply(named(client, probe, probe.before, index), "adversary", force=True)
    for manifest in guards:
        client.apply(manifest, "adversary", force=True)


def approved(manifest: Object) -> Object:
    """The same CRD, with what the API server asks for in groups of Kubernetes itself."""
    note = {"api-approved.kubernetes.io": "unapproved, for tests"}
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": note}}


@contextmanager
def api_server(folder: Path, probes: Sequence[Request]) -> Iterator[ControlPlane]:
    """A server of its own with what the stack declares: the rules of a whole stack refuse what other tests create."""
    plane = start_plane(folder)
    try:
        plane.pool.create(CLUSTER, "1.36")
        prepare(plane.client, probes)
        in_effect(plane.client, probes)
        yield plane
    finally:
        plane.supervisor.stop_all()


def in_effect(client: KubeClient, probes: Sequence[Request]) -> None:
    """Wait until the API server evaluates every rule: it watches policies, and until then accepts."""
    end = time.monotonic() + SECONDS
    left = [probe for probe in probes if probe.due]
    while left and time.monotonic() < end:
        left = [probe for probe in left if not ask(client, probe, probes.index(probe))]
        time.sleep(0.2 if left else 0)


def named(client: KubeClient, probe: Request, manifest: Object, index: int) -> Object:
    """The object in the team's namespace; one that exists before the act has a name of its own."""
    metadata = {"namespace": HERE, **manifest["metadata"]}
    if not client.discovery.find(manifest["apiVersion"], manifest["kind"]).namespaced:
        metadata.pop("namespace")
    if probe.before is not None and metadata["name"] == "it":
        metadata["name"] = f"it-{index}"
    return {**manifest, "metadata": metadata}


def ask(client: KubeClient, probe: Request, index: int) -> str:
    """The refusal of an act; empty if the API server accepts it. Nothing is changed: all requests are dry runs."""
    manifest = named(client, probe, probe.manifest, index)
    ref = Ref.of(manifest)
    resource = client.discovery.find(ref.api_version, ref.kind)
    named_in_path = probe.method not in ("POST", "LIST") or probe.subresource
    path = resource.path(ref.namespace, ref.name if named_in_path else "")
    path += f"/{probe.subresource}" if probe.subresource else ""
    body: Any = None if probe.method in ("GET", "LIST", "DELETE") else manifest
    if probe.subresource == "scale":
        body = {"spec": manifest["spec"]}
    if probe.subresource == "token":
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": manifest["spec"]}
    if probe.subresource == "eviction":
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": ref.name, "namespace": ref.namespace},
        }
    # A merge would replace all of a container, and change what was defaulted in it.
    way = "strategic-merge-patch" if ref.kind == "Pod" else "merge-patch"
    content = {"content_type": f"application/{way}+json"} if probe.method == "PATCH" else {}
    dry = {} if probe.method in ("GET", "LIST") else {"dryRun": "All"}
    method = "GET" if probe.method == "LIST" else probe.method
    try:
        client.call(method, path, body, dry, headers=headers(probe.actor), **content)
    except ApiError as error:
        return error.message
    return ""
