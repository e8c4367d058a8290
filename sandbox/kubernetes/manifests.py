"""Resources that are one Kubernetes object: typed resources, `CustomResource`, and the `...Patch` of either."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.errors import GOES_ON
from sandbox.kubernetes import crds, waiting
from sandbox.kubernetes.client import ApiError, KubeClient, UnreachableError
from sandbox.kubernetes.controllers import table
from sandbox.kubernetes.controllers.webhooks import as_applied, left_out
from sandbox.kubernetes.inputs import (
    annotation,
    api_version_and_kind,
    drifted,
    imported,
    is_autonamed,
    is_patch,
    manifest,
    named,
    normalized,
)
from sandbox.kubernetes.objects import DEFAULT_NAMESPACE, Object, Ref, generated, is_custom_resource_definition
from sandbox.kubernetes.targets import Settings, Target, Targets
from sandbox.kubernetes.validation import Manifest, validate
from sandbox.notes import Note, NoteKind, Notes
from sandbox.rpc import diff
from sandbox.rpc.diff import Diff, Path, compare
from sandbox.rpc.errors import PartialFailureError, ProviderError
from sandbox.rpc.hooks import Failure, ReadResult, Resource
from sandbox.rpc.wire import UNKNOWN, has_unknown
from spec import strict_yaml

_ALWAYS = ("metadata.name", "metadata.namespace")
_REPLACED: Mapping[str, list[str]] = strict_yaml.beside(__file__, "replaced")
"""Fields whose change makes another object, by group and kind."""

_CONTENTS = ("data", "binaryData", "stringData")


def forces_new(path: Path, old_inputs: Mapping[str, Any], settings: Settings, value: Any = None) -> bool:
    """Whether a change at the path replaces the object: of a field that can't be updated, or to a value with one."""
    ref = Ref.of(old_inputs)
    key = (ref.group, ref.kind)
    if path and path[0] in _CONTENTS and key in {("", "ConfigMap"), ("", "Secret")}:
        mutable = settings.config_map_mutable if ref.kind == "ConfigMap" else settings.secret_mutable
        return not mutable or old_inputs.get("immutable") is True
    patterns = map(diff.parse, (*_ALWAYS, *_REPLACED.get("/".join(filter(None, key)), ())))
    return any(
        diff.covers(each, path) or (diff.covers(each[: len(path)], path) and _has(value, each[len(path) :]))
        for each in patterns
    )


def _has(value: Any, below: Path) -> bool:
    """Whether a value has something at a path below it."""
    if not below:
        return value is not None
    if isinstance(value, list):
        return any(_has(each, below[1:]) for each in value)
    return isinstance(value, Mapping) and _has(value.get(str(below[0])), below[1:])


def _at(value: Any, path: Path) -> Any:
    """The value at a path; None if there is none."""
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value


MANAGER = "pulumi-kubernetes"
PATCH_FORCE = "pulumi.com/patchForce"
PATCH_MANAGER = "pulumi.com/patchFieldManager"


@dataclass(frozen=True)
class Manifests:
    """The provider's hooks for such a resource."""

    targets: Targets
    notes: Notes
    _given_up: set[tuple[str, Ref]] = field(default_factory=set)
    """Resources that may exist though their creation was given up: the next run goes on with them."""

    def check(
        self, settings: Settings, resource: Resource, news: Object, olds: Object, seed: bytes
    ) -> tuple[Object, list[Failure]]:
        """Fill in the name and the namespace, then let the API server validate the object."""
        inputs = normalized(named(resource, news, olds, seed))
        metadata = inputs.get("metadata")
        if not isinstance(metadata, dict) or UNKNOWN in (inputs["apiVersion"], inputs["kind"]):
            self._note_unvalidated(resource, "its kind or metadata is known only after other resources exist")
            return inputs, []
        if settings.namespace and not metadata.get("namespace") and self._namespaced(settings, inputs):
            metadata["namespace"] = settings.namespace
        if is_custom_resource_definition(inputs) and not has_unknown(inputs):
            self.targets.preview_crds.offer([manifest(inputs)])
        verdict = validate(self.targets, settings, self._manifest(settings, resource, inputs, olds))
        self._note_unvalidated(resource, verdict.unvalidated)
        return inputs, [Failure("", verdict.refusal)] if verdict.refusal else []

    def diff(self, settings: Settings, old_inputs: Object, news: Object) -> Diff:
        """The changes, and which of them force a replacement."""
        before, after = (self._in_place(settings, normalized(each)) for each in (old_inputs, news))
        changes = Diff(compare(before, after)).replacing(
            lambda path: forces_new(path, old_inputs, settings, _at(news, path))
        )
        same_name = Ref.of(old_inputs) == Ref.of(news) and not is_autonamed(news)
        return Diff(changes.changes, delete_before_replace=same_name, whole_paths=True)

    def create(self, settings: Settings, resource: Resource, inputs: Object) -> tuple[str, Object]:
        """Create the object. An existing one is an error, as in the real provider since 4.30 (#4278)."""
        target = self.targets.live(settings)
        obj = generated(manifest(inputs))
        if self._leave_out(resource, obj):
            return _id(obj), obj
        self._ensure_served(target.client, resource, obj)
        ours = (resource.urn, Ref.of(obj))
        if not (is_patch(resource.type, inputs) or settings.upsert or ours in self._given_up):
            _require_absent(target.client, Ref.of(obj))
        try:
            live = self._apply(target, settings, resource, obj)
        except (ApiError, UnreachableError) as error:
            if GOES_ON in str(error):
                self._given_up.add(ours)
            raise
        return _id(live), self._done(target, resource, live)

    def update(self, settings: Settings, resource: Resource, id: str, news: Object) -> Object:
        """Apply the new inputs."""
        target = self.targets.live(settings)
        obj = manifest(news)
        obj["metadata"].setdefault("name", id.rpartition("/")[2])
        if self._leave_out(resource, obj):
            waiting.delete(target.client, Ref.of(obj))
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
        if inputs and left_out(manifest(inputs), table.served()):
            return ReadResult(id, outputs, inputs)
        namespace, _, name = id.rpartition("/")
        api_version, kind = api_version_and_kind(resource.type)
        ref = Ref(inputs.get("apiVersion") or api_version, inputs.get("kind") or kind, name, namespace)
        live = target.client.get(ref) if crds.is_served(target.client, ref) else None
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
        if is_patch(resource.type, inputs or outputs):
            self._relinquish(target.client, resource, inputs, ref)
            return
        waiting.delete(target.client, ref, wait=not waiting.skipped_at_deletion(outputs))
        if ref.group:
            crds.remove_unused_stand_ins(target.client)

    # ------------------------------------------------------------------------------------------------------------------

    def _manifest(self, settings: Settings, resource: Resource, inputs: Object, olds: Object) -> Manifest:
        diff = self.diff(settings, olds, inputs) if olds else Diff()
        replaced = any(change.replace for change in diff.changes)
        return Manifest(
            manifest(inputs),
            _manager(resource, inputs),
            # The old object of this name still exists; a generated name changes with a replacement.
            replaced=replaced and Ref.of(olds) == Ref.of(inputs),
            # A Patch and an upsert change an existing object; a CRD can't have another name.
            fresh=not (olds or settings.upsert or is_patch(resource.type, inputs) or _bound_to_name(inputs)),
            # A new object has no owner to conflict with; `create` reports an existing one.
            force=not olds or _force(settings, inputs),
        )

    def _in_place(self, settings: Settings, inputs: Object) -> Object:
        """The inputs with the namespace that the object has: the official provider's Check names one for a kind that
        nothing serves yet, and to name `default` is no change (provider.go, Check and Diff)."""
        ref, target = Ref.of(inputs), self.targets.existing(settings)
        metadata = inputs.get("metadata")
        if target is None or not isinstance(metadata, dict) or not crds.is_served(target.client, ref):
            return inputs
        rest = {key: each for key, each in metadata.items() if key != "namespace"}
        if crds.is_namespaced(target.client, ref):
            rest["namespace"] = metadata.get("namespace") or DEFAULT_NAMESPACE
        return {**inputs, "metadata": rest}

    def _namespaced(self, settings: Settings, inputs: Object) -> bool:
        ref = Ref.of(inputs)
        return crds.is_namespaced(self.targets.serving(settings, ref).client, ref)

    def _ensure_served(self, client: KubeClient, resource: Resource, obj: Object) -> None:
        ref = Ref.of(obj)
        if not crds.is_served(client, ref):
            crds.ensure_stand_in(client, obj)
        text = f"{ref.kind} of {ref.api_version} has no CRD here; a stand-in CRD accepts any content"
        stand_in = crds.served_by_stand_in(client, ref)
        self.notes.set(Note(resource.urn, NoteKind.STAND_IN, text if stand_in else ""))

    def _apply(self, target: Target, settings: Settings, resource: Resource, obj: Object) -> Object:
        manager, force = _manager(resource, obj), _force(settings, obj)
        if not is_custom_resource_definition(obj):
            return target.client.apply(as_applied(obj, table.served()), manager, force=force)
        try:
            return crds.install(target.client, obj, manager, force=force)
        except crds.RefusedByCrdError as error:
            # The CRD is installed nevertheless, so it must be in the state.
            raise PartialFailureError(_id(error.live), _outputs(error.live), [str(error)]) from error

    def _leave_out(self, resource: Resource, obj: Object) -> bool:
        reason = left_out(obj, table.served())
        self.notes.clear(resource.urn, NoteKind.NOT_VALIDATED)
        self.notes.set(Note(resource.urn, NoteKind.LEFT_OUT, reason))
        return bool(reason)

    def _done(self, target: Target, resource: Resource, live: Object) -> Object:
        self.notes.clear(resource.urn, NoteKind.NOT_VALIDATED)
        try:
            return _outputs(waiting.until_ready(target.client, live))
        except (TimeoutError, UnreachableError) as error:
            # It exists, so it must be in the state.
            raise PartialFailureError(_id(live), _outputs(live), [str(error)]) from error

    def _relinquish(self, client: KubeClient, resource: Resource, inputs: Object, ref: Ref) -> None:
        if crds.is_served(client, ref) and client.get(ref) is not None:
            client.apply(ref.as_object(), _manager(resource, inputs), force=True)

    def _note_unvalidated(self, resource: Resource, text: str) -> None:
        self.notes.set(Note(resource.urn, NoteKind.NOT_VALIDATED, text))


def _was_read(outputs: Object) -> bool:
    """Whether the outputs are those of a live object."""
    return bool((outputs.get("metadata") or {}).get("uid"))


def _written(client: KubeClient, resource: Resource, inputs: Object, live: Object) -> Object:
    """The object as our write would leave it: of an adopted one the state has only the inputs, so defaults of the API
    server would look like changes by others."""
    obj = manifest(inputs)
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
    own = annotation(inputs, PATCH_MANAGER)
    if own or not is_patch(resource.type, inputs):
        return own or MANAGER
    return f"{MANAGER}-{hashlib.sha256(resource.urn.encode()).hexdigest()[:8]}"


def _force(settings: Settings, inputs: Object) -> bool:
    return settings.patch_force or annotation(inputs, PATCH_FORCE) == "true"


def _id(live: Object) -> str:
    ref = Ref.of(live)
    return f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name


def _outputs(live: Object) -> dict[str, Any]:
    """The live object without managedFields, which is large and not needed in the state."""
    metadata = {key: value for key, value in live["metadata"].items() if key != "managedFields"}
    return {**live, "metadata": metadata}
