"""Applying and removing the objects of a release, like `helm install`, `upgrade` and `uninstall`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slipway.errors import SandboxError
from slipway.sandbox.kubernetes import awaits, crds
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.errors import ApiError, NoSuchKindError
from slipway.sandbox.kubernetes.helm.render import ReleaseName
from slipway.sandbox.kubernetes.objects import Object, Ref, is_custom_resource_definition
from slipway.sandbox.kubernetes.unserved import left_out

MANAGER = "helm"
NAME_ANNOTATION = "meta.helm.sh/release-name"
NAMESPACE_ANNOTATION = "meta.helm.sh/release-namespace"
MANAGED_BY = "app.kubernetes.io/managed-by"
POLICY = "helm.sh/resource-policy"


@dataclass
class Applied:
    """The result of an installation so far; it is complete unless `failure` is set."""

    objects: list[Ref] = field(default_factory=list)
    kept: list[Ref] = field(default_factory=list)
    """Objects that outlive the release (annotation `helm.sh/resource-policy: keep`)."""
    stand_ins: list[str] = field(default_factory=list)
    """Kinds that are served by a stand-in."""
    left_out: list[str] = field(default_factory=list)
    """What was not applied, because its server does not run (`unserved`)."""
    failure: str = ""

    def add(self, obj: Object) -> None:
        """Record an object as applied, once."""
        policy = (obj["metadata"].get("annotations") or {}).get(POLICY)
        known, ref = self.kept if policy == "keep" else self.objects, Ref.of(obj)
        if ref not in known:
            known.append(ref)


def install_crds(client: KubeClient, chart_crds: Iterable[Object]) -> None:
    """Install the CRDs of `crds/` like Helm: only missing ones; existing ones never change. A stand-in is missing."""
    crds.install_all(client, chart_crds, MANAGER)


def require_namespace(client: KubeClient, name: str, *, create: bool) -> None:
    """Create the release's namespace, or refuse like Helm if it is missing."""
    ref = Ref("v1", "Namespace", name)
    if client.get(ref) is not None:
        return
    if not create:
        msg = f'namespaces "{name}" not found: create it first, or set createNamespace on the release'
        raise SandboxError(msg)
    client.apply(ref.as_object(), MANAGER)


def apply(client: KubeClient, release: ReleaseName, objects: Sequence[Object], *, adopt: bool) -> Applied:
    """Apply the objects in order, up to the first that is refused, without those whose server does not run here."""
    reasons = {str(Ref.of(obj)): left_out(obj) for obj in objects}
    applied = Applied(left_out=sorted({reason for reason in reasons.values() if reason}))
    objects = [obj for obj in objects if not reasons[str(Ref.of(obj))]]
    for are_crds, group in itertools.groupby(objects, is_custom_resource_definition):
        batch = [with_owner(obj, release) for obj in group]
        sent = _send(client, batch, release, adopt=adopt) if are_crds else frozenset[str]()
        for obj in batch:
            owned = placed(client, obj, release)
            ref = Ref.of(owned)
            try:
                _apply(client, owned, release, applied, adopt=adopt, sent=ref.name in sent)
            except (ApiError, NoSuchKindError, SandboxError, TimeoutError) as error:
                applied.failure = f"{ref}: {error}"
                for each in batch:
                    # They were sent together, so they exist.
                    if Ref.of(each).name in sent:
                        applied.add(each)
                return applied
            applied.add(owned)
    return applied


def uninstall(client: KubeClient, objects: Iterable[Ref]) -> None:
    """Remove objects, the last applied first."""
    for ref in reversed(tuple(objects)):
        awaits.delete(client, ref)


def with_owner(obj: Object, release: ReleaseName) -> Object:
    """The object with the label and the annotations by which Helm identifies its objects."""
    metadata = obj.get("metadata") or {}
    labels = {**(metadata.get("labels") or {}), MANAGED_BY: "Helm"}
    owner = {NAME_ANNOTATION: release.name, NAMESPACE_ANNOTATION: release.namespace}
    annotations = {**(metadata.get("annotations") or {}), **owner}
    return {**obj, "metadata": {**metadata, "labels": labels, "annotations": annotations}}


def placed(client: KubeClient, obj: Object, release: ReleaseName) -> Object:
    """The object with the release's namespace, if its kind is namespaced and it names none."""
    ref = Ref.of(obj)
    try:
        namespaced = client.discovery.find(ref.api_version, ref.kind).namespaced
    except NoSuchKindError:
        return obj
    if not namespaced or ref.namespace:
        return obj
    return {**obj, "metadata": {**obj["metadata"], "namespace": release.namespace}}


def _send(client: KubeClient, batch: Sequence[Object], release: ReleaseName, *, adopt: bool) -> frozenset[str]:
    """Send CRDs all at once: one by one, each would wait until the previous one is served."""

    def ours(crd: Object) -> bool:
        try:
            _require_ownership(client, Ref.of(crd), release)
        except SandboxError:
            return False
        return True

    return crds.send(client, [crd for crd in batch if adopt or ours(crd)], MANAGER)


def _apply(client: KubeClient, obj: Object, release: ReleaseName, applied: Applied, *, adopt: bool, sent: bool) -> None:
    ref = Ref.of(obj)
    if sent:
        crds.wait_until_served(client, obj)
        return
    if not crds.is_served(client, ref):
        crds.ensure_stand_in(client, obj)
        applied.stand_ins.append(f"{ref.kind} of {ref.api_version}")
    if not adopt:
        _require_ownership(client, ref, release)
    if is_custom_resource_definition(obj):
        crds.install(client, obj, MANAGER)
        return
    client.apply(obj, MANAGER, force=True)


def _require_ownership(client: KubeClient, ref: Ref, release: ReleaseName) -> None:
    present: Mapping[str, Any] | None = client.metadata(ref)
    if present is None or crds.is_stand_in(present):
        return
    annotations = present["metadata"].get("annotations") or {}
    owner = (annotations.get(NAME_ANNOTATION), annotations.get(NAMESPACE_ANNOTATION))
    if owner != (release.name, release.namespace):
        belongs = f"to release {owner[1]}/{owner[0]}" if owner[0] else "to no release"
        msg = (
            "exists and cannot be imported into the current release: invalid ownership metadata: it belongs "
            f"{belongs}; delete it, or set takeOwnership on the release"
        )
        raise SandboxError(msg)
