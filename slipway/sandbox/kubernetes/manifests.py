"""Resources that are one Kubernetes object: typed resources, `CustomResource`, and the `...Patch` of either."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from slipway.sandbox.kubernetes import awaits, controllers, crds, names
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.drift import drifted, imported
from slipway.sandbox.kubernetes.errors import ApiError, NoSuchKindError
from slipway.sandbox.kubernetes.immutable import forces_new
from slipway.sandbox.kubernetes.normalized import normalized
from slipway.sandbox.kubernetes.objects import Object, Ref, is_custom_resource_definition
from slipway.sandbox.kubernetes.settings import Settings
from slipway.sandbox.kubernetes.targets import Target, Targets
from slipway.sandbox.kubernetes.unserved import left_out, prepared
from slipway.sandbox.kubernetes.validation import Manifest, validate
from slipway.sandbox.notes import Note, NoteKind, Notes
from slipway.sandbox.rpc.diff import Diff, compare
from slipway.sandbox.rpc.errors import PartialFailureError, ProviderError
from slipway.sandbox.rpc.hooks import Failure, ReadResult, Resource
from slipway.sandbox.rpc.wire import UNKNOWN, has_unknown

MANAGER = "pulumi-kubernetes"
PATCH_FORCE = "pulumi.com/patchForce"
PATCH_MANAGER = "pulumi.com/patchFieldManager"


class ObjectObserver(Protocol):
    """Is notified of every object that the program applied or deleted, with the name of its cluster."""

    def object_changed(self, cluster: str, obj: Mapping[str, Any]) -> None:
        """An object was created or updated."""

    def object_deleted(self, cluster: str, obj: Mapping[str, Any]) -> None:
        """An object was deleted."""


@dataclass(frozen=True)
class Manifests:
    """The provider's hooks for such a resource."""

    targets: Targets
    notes: Notes
    observer: ObjectObserver

    def check(
        self, settings: Settings, resource: Resource, news: Object, olds: Object, seed: bytes
    ) -> tuple[Object, list[Failure]]:
        """Fill in the name and the namespace, then let the API server validate the object."""
        inputs = normalized(names.named(resource, news, olds, seed))
        metadata = inputs.get("metadata")
        if not isinstance(metadata, dict) or UNKNOWN in (inputs["apiVersion"], inputs["kind"]):
            self._note_unvalidated(resource, "its kind or metadata is known only after other resources exist")
            return inputs, []
        if settings.namespace and not metadata.get("namespace") and self._namespaced(settings, inputs):
            metadata["namespace"] = settings.namespace
        if is_custom_resource_definition(inputs) and not has_unknown(inputs):
            self.targets.preview_crds.offer([names.manifest(inputs)])
        verdict = validate(self.targets, settings, self._manifest(settings, resource, inputs, olds))
        self._note_unvalidated(resource, verdict.unvalidated)
        return inputs, [Failure("", verdict.refusal)] if verdict.refusal else []

    def diff(self, settings: Settings, old_inputs: Object, news: Object) -> Diff:
        """The changes, and which of them force a replacement."""
        changes = Diff(compare(old_inputs, news)).replacing(lambda path: forces_new(path, old_inputs, settings))
        same_name = Ref.of(old_inputs) == Ref.of(news) and not names.is_autonamed(news)
        return Diff(changes.changes, delete_before_replace=same_name, whole_paths=True)

    def create(self, settings: Settings, resource: Resource, inputs: Object) -> tuple[str, Object]:
        """Create the object. An existing one is an error, as in the real provider since 4.30 (#4278)."""
        target = self.targets.live(settings)
        obj = names.manifest(inputs)
        if self._leave_out(resource, obj):
            return _id(obj), obj
        self._ensure_served(target.client, resource, obj)
        named = "name" in obj["metadata"]
        if named and not (names.is_patch(resource.type, inputs) or settings.upsert):
            _require_absent(target.client, Ref.of(obj))
        live = self._apply(target, settings, resource, obj) if named else target.client.create(obj, MANAGER)
        return _id(live), self._done(target, resource, live)

    def update(self, settings: Settings, resource: Resource, id: str, news: Object) -> Object:
        """Apply the new inputs."""
        target = self.targets.live(settings)
        obj = names.manifest(news)
        if "name" not in obj["metadata"]:
            obj["metadata"]["name"] = id.rpartition("/")[2]
        if self._leave_out(resource, obj):
            awaits.delete(target.client, Ref.of(obj))
            return obj
        self._ensure_served(target.client, resource, obj)
        return self._done(target, resource, self._apply(target, settings, resource, obj))

    def read(
        self, settings: Settings, resource: Resource, id: str, outputs: Object, inputs: Object
    ) -> ReadResult | None:
        """The live object, and the inputs that would describe it."""
        target = self.targets.existing(settings)
        if target is None:
            return None
        if inputs and left_out(names.manifest(inputs), controllers.served()):
            return ReadResult(id, outputs, inputs)
        namespace, _, name = id.rpartition("/")
        api_version, kind = names.api_version_and_kind(resource.type)
        ref = Ref(inputs.get("apiVersion") or api_version, inputs.get("kind") or kind, name, namespace)
        try:
            live = target.client.get(ref)
        except NoSuchKindError:
            live = None
        if live is None:
            return None
        if not inputs:
            return ReadResult(_id(live), _outputs(live), imported(live))
        recorded = outputs if _was_read(outputs) else _written(target.client, resource, inputs, live)
        present = drifted(inputs, recorded, live)
        return ReadResult(_id(live), _outputs(live), present)

    def delete(self, settings: Settings, resource: Resource, outputs: Object, inputs: Object) -> None:
        """Delete the object and wait until it is gone; a Patch only releases the fields that it owns."""
        target = self.targets.existing(settings)
        self.notes.clear(resource.urn)
        if target is None:
            return
        ref = Ref.of(outputs)
        if names.is_patch(resource.type, inputs or outputs):
            self._relinquish(target.client, resource, inputs, ref)
            return
        awaits.delete(target.client, ref, wait=not awaits.skipped_at_deletion(outputs))
        self.observer.object_deleted(target.cluster, outputs)
        if ref.group:
            crds.remove_unused_stand_ins(target.client)

    # ------------------------------------------------------------------------------------------------------------------

    def _manifest(self, settings: Settings, resource: Resource, inputs: Object, olds: Object) -> Manifest:
        diff = self.diff(settings, olds, inputs) if olds else Diff()
        replaced = any(change.replace for change in diff.changes)
        return Manifest(
            names.manifest(inputs),
            _manager(resource, inputs),
            # The old object of this name still exists; a generated name changes with a replacement.
            replaced=replaced and Ref.of(olds) == Ref.of(inputs),
            # A Patch and an upsert change an existing object; a CRD can't have another name.
            fresh=not (olds or settings.upsert or names.is_patch(resource.type, inputs) or _bound_to_name(inputs)),
            # A new object has no owner to conflict with; `create` reports an existing one.
            force=not olds or _force(settings, inputs),
        )

    def _namespaced(self, settings: Settings, inputs: Object) -> bool:
        client = (self.targets.existing(settings) or self.targets.spare(settings)).client
        try:
            return client.discovery.find(inputs["apiVersion"], inputs["kind"]).namespaced
        except NoSuchKindError:
            return False

    def _ensure_served(self, client: KubeClient, resource: Resource, obj: Object) -> None:
        ref = Ref.of(obj)
        try:
            client.discovery.find(ref.api_version, ref.kind)
        except NoSuchKindError:
            crds.ensure_stand_in(client, obj)
        if crds.served_by_stand_in(client, ref):
            text = f"{ref.kind} of {ref.api_version} has no CRD here; a stand-in CRD accepts any content"
            self.notes.set(Note(resource.urn, NoteKind.STAND_IN, text))
        else:
            self.notes.clear(resource.urn, NoteKind.STAND_IN)

    def _apply(self, target: Target, settings: Settings, resource: Resource, obj: Object) -> Object:
        manager, force = _manager(resource, obj), _force(settings, obj)
        if not is_custom_resource_definition(obj):
            return target.client.apply(prepared(obj, controllers.served()), manager, force=force)
        try:
            return crds.install(target.client, obj, manager, force=force)
        except crds.RefusedByCrdError as error:
            # The CRD is installed nevertheless, so it must be in the state.
            raise PartialFailureError(_id(error.live), _outputs(error.live), [str(error)]) from error

    def _leave_out(self, resource: Resource, obj: Object) -> bool:
        reason = left_out(obj, controllers.served())
        self.notes.clear(resource.urn, NoteKind.NOT_VALIDATED, NoteKind.LEFT_OUT)
        if reason:
            self.notes.set(Note(resource.urn, NoteKind.LEFT_OUT, reason))
        return bool(reason)

    def _done(self, target: Target, resource: Resource, live: Object) -> Object:
        self.notes.clear(resource.urn, NoteKind.NOT_VALIDATED)
        self.observer.object_changed(target.cluster, live)
        try:
            return _outputs(awaits.until_ready(target.client, live))
        except TimeoutError as error:
            # It exists, so it must be in the state.
            raise PartialFailureError(_id(live), _outputs(live), [str(error)]) from error

    def _relinquish(self, client: KubeClient, resource: Resource, inputs: Object, ref: Ref) -> None:
        try:
            if client.get(ref) is not None:
                client.apply(ref.as_object(), _manager(resource, inputs), force=True)
        except NoSuchKindError:
            return

    def _note_unvalidated(self, resource: Resource, text: str) -> None:
        if text:
            self.notes.set(Note(resource.urn, NoteKind.NOT_VALIDATED, text))
        else:
            self.notes.clear(resource.urn, NoteKind.NOT_VALIDATED)


def _was_read(outputs: Object) -> bool:
    """Whether the outputs are those of a live object."""
    return bool((outputs.get("metadata") or {}).get("uid"))


def _written(client: KubeClient, resource: Resource, inputs: Object, live: Object) -> Object:
    """The object as our write would leave it: of an adopted one the state has only the inputs, so defaults of the API
    server would look like changes by others."""
    obj = names.manifest(inputs)
    obj["metadata"] = {**(obj.get("metadata") or {}), "name": live["metadata"]["name"]}
    try:
        return client.apply(obj, _manager(resource, inputs), force=True, dry_run=True)
    except ApiError:
        return inputs


def _bound_to_name(inputs: Object) -> bool:
    """Whether the object can have only one name (a CRD), or a name that the API server generates."""
    return is_custom_resource_definition(inputs) or "name" not in inputs["metadata"]


def _require_absent(client: KubeClient, ref: Ref) -> None:
    present = client.get(ref)
    if present is not None and not crds.is_stand_in(present):
        msg = (
            f"{ref} already exists: add an alias if the resource was renamed, import it to manage it, "
            "or use a ...Patch resource to own some of its fields"
        )
        raise ProviderError(msg)


def _manager(resource: Resource, inputs: Object) -> str:
    """One field manager for all objects; a separate one for each Patch, so that it can release its own fields."""
    own = names.annotation(inputs, PATCH_MANAGER)
    if own or not names.is_patch(resource.type, inputs):
        return own or MANAGER
    return f"{MANAGER}-{hashlib.sha256(resource.urn.encode()).hexdigest()[:8]}"


def _force(settings: Settings, inputs: Object) -> bool:
    return settings.patch_force or names.annotation(inputs, PATCH_FORCE) == "true"


def _id(live: Object) -> str:
    ref = Ref.of(live)
    return f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name


def _outputs(live: Object) -> dict[str, Any]:
    """The live object without managedFields, which is large and not needed in the state."""
    metadata = {key: value for key, value in live["metadata"].items() if key != "managedFields"}
    return {**live, "metadata": metadata}
