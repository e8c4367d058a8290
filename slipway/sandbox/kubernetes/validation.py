"""What the API server says to a manifest before anything is changed: a dry run, at preview and before each step.

The cluster itself is asked. Before it exists, or where it does not serve the kind yet, the spare is. What neither can
judge is said, never passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.errors import ApiError, NoSuchKindError
from slipway.sandbox.kubernetes.objects import DEFAULT_NAMESPACE, Object, Ref
from slipway.sandbox.kubernetes.settings import Settings
from slipway.sandbox.kubernetes.targets import Targets
from slipway.sandbox.kubernetes.unknowns import blamed, complains_of_unknown, with_placeholders, without
from slipway.sandbox.rpc import paths
from slipway.sandbox.rpc.paths import Path

CONFLICT_HELP = (
    'Somebody else owns the field since. To take it back, set the annotation pulumi.com/patchForce: "true" on the '
    "resource or enablePatchForce on the provider; to leave it to them, list it in ignoreChanges."
)
_REPLACEMENT_NAME = 50
"""Characters of a name that are kept for a dry run beside the object of that name; a Service may have 63 in all."""


@dataclass(frozen=True)
class Manifest:
    """A manifest to validate.

    Attributes:
        obj: The manifest.
        manager: The field manager that would apply it.
        replaced: It takes the place of an object of the same name.
        fresh: It makes a new object. One of its name that stands will be deleted first, if this is a replacement: of
            which the engine says nothing when it checks the new object. Else `create` refuses.
        force: Take fields from other managers.
    """

    obj: Object
    manager: str
    replaced: bool = False
    fresh: bool = False
    force: bool = False


@dataclass(frozen=True)
class Verdict:
    """`refusal` is the API server's own message, `unvalidated` what could not be judged and why; empty for none."""

    refusal: str = ""
    unvalidated: str = ""


def validate(targets: Targets, settings: Settings, manifest: Manifest) -> Verdict:
    """Dry-run the manifest. Raises UnreachableError when no API server answers."""
    ref = Ref.of(manifest.obj)
    existing = targets.existing(settings)
    if existing is not None:
        try:
            return _validate_living(existing.client, manifest)
        except NoSuchKindError as error:
            # Only a preview gets here: in an update its CRD is installed by now, or `create` says what is missing.
            if not targets.definitions.offers(ref):
                return _not_served(ref, error)
    spare = targets.spare().client
    targets.definitions.install_for(spare, ref)
    try:
        return _validate_unknowns(spare, replace(_beside(manifest), force=True))
    except NoSuchKindError as error:
        return _not_served(ref, error)


def _validate_living(client: KubeClient, manifest: Manifest) -> Verdict:
    if manifest.replaced:
        return _validate_unknowns(client, _beside(manifest))
    verdict = _validate_unknowns(client, manifest)
    if not (verdict.refusal and manifest.fresh and client.metadata(Ref.of(manifest.obj)) is not None):
        return verdict
    # What was refused may be the change of an object that is going to be deleted, such as a Job's template.
    return _validate_unknowns(client, _beside(replace(manifest, replaced=True)))


def _not_served(ref: Ref, error: NoSuchKindError) -> Verdict:
    if not ref.custom:
        return Verdict(refusal=str(error))
    return Verdict(
        unvalidated=f"{ref.kind} of {ref.api_version} is served by no cluster yet, and no chart at hand has its CRD"
    )


def _beside(manifest: Manifest) -> Manifest:
    """A replacement as a new object of another name, since the old one still stands."""
    if not manifest.replaced:
        return manifest
    metadata = manifest.obj["metadata"]
    name = f"{str(metadata['name'])[:_REPLACEMENT_NAME].rstrip('-.')}-replacement"
    return replace(manifest, obj={**manifest.obj, "metadata": {**metadata, "name": name}}, force=True)


def _validate_unknowns(client: KubeClient, manifest: Manifest) -> Verdict:
    obj, unknowns = with_placeholders(manifest.obj)
    error = _refusal(client, replace(manifest, obj=obj))
    left_out: tuple[Path, ...] = blamed(error.message, unknowns) if error else ()
    if left_out:
        # What remains is judged too; that a field is wanted which was left out is no fault of the program.
        error = _refusal(client, replace(manifest, obj=without(obj, left_out)))
    refusal = _message(error, lambda text: not complains_of_unknown(text, unknowns)) if error else ""
    fields = ", ".join(sorted({paths.write(path) for path in left_out}))
    return Verdict(refusal, f"{fields}: known only after other resources exist" if fields else "")


def _refusal(client: KubeClient, manifest: Manifest) -> ApiError | None:
    try:
        _dry_run(client, manifest.obj, manifest.manager, force=manifest.force)
    except ApiError as error:
        return error
    return None


def _dry_run(client: KubeClient, obj: Object, manager: str, *, force: bool) -> None:
    """In `default` where the namespace comes with the same program.

    It is asked for first: the API server waits 50 ms for a namespace that is not there (k8s.io/apiserver, admission
    plugin namespace/lifecycle, missingNamespaceWait), which were 6 of the 14 s of a preview of prod (2026-11).
    """
    namespace = obj["metadata"].get("namespace") or DEFAULT_NAMESPACE
    if namespace == DEFAULT_NAMESPACE or client.metadata(Ref("v1", "Namespace", namespace)) is not None:
        _send(client, obj, manager, force=force)
        return
    try:
        _send(client, {**obj, "metadata": {**obj["metadata"], "namespace": DEFAULT_NAMESPACE}}, manager, force=True)
    except ApiError:
        try:
            _send(client, obj, manager, force=force)
        except ApiError as error:
            # Types are judged before namespaces, and this message names the object as the program does.
            if error.missing_namespace is None:
                raise
        raise


def _send(client: KubeClient, obj: Object, manager: str, *, force: bool) -> None:
    if "name" in obj["metadata"]:
        client.apply(obj, manager, force=force, dry_run=True)
    else:
        client.create(obj, manager, dry_run=True)


def _message(error: ApiError, concerns: Callable[[str], bool]) -> str:
    """The API server's message, without the complaints that do not concern the program. Empty when none is left."""
    if error.conflict:
        return f"Server-Side Apply field conflict detected: {error.message}. {CONFLICT_HELP}"
    if concerns(error.message):
        return error.message
    causes: list[dict[str, Any]] = list(error.details.get("causes") or ())
    texts = [f"{cause.get('field')}: {cause.get('message')}" for cause in causes]
    if not texts:
        # Several type errors come as indented lines of one message.
        texts = [line.strip() for line in re.split(r"\n\s+", error.message)[1:]]
    return "; ".join(text for text in texts if concerns(text))
