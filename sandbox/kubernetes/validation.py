"""Validating a manifest, unknown values and all, with a dry run of the API server."""

import copy
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from sandbox.kubernetes.client import ApiError, KubeClient, NoSuchKindError
from sandbox.kubernetes.objects import DEFAULT_NAMESPACE, Object, Ref, generated
from sandbox.kubernetes.targets import Settings, Targets
from sandbox.rpc import diff
from sandbox.rpc.diff import Path
from sandbox.rpc.wire import UNKNOWN
from spec.catalog import kubernetes

# Validating manifests with values that are not known in a preview.
#
# Each unknown is replaced by a placeholder text. If the API server requires a number or another format, it rejects that
# field: this is not an error of the program, so the field is removed and the rest is validated again.

PLACEHOLDER = "slipway-unknown-yet"
"""Valid as a name, a label value and free text, so that most fields accept it."""
_INDEX = re.compile(r"\[[^\]]*\]")


def with_placeholders(obj: Object) -> tuple[Object, tuple[Path, ...]]:
    """The object with a placeholder for each unknown, and the paths of the unknowns."""
    unknowns = tuple(_unknowns(obj, ()))
    return (_replaced(obj) if unknowns else obj), unknowns


def blamed(message: str, unknowns: Iterable[Path]) -> tuple[Path, ...]:
    """The unknowns that a message rejects. Messages number or name list items, so indexes are not compared."""
    text = _INDEX.sub("", message)
    return tuple(path for path in unknowns if re.search(rf"\b{re.escape(diff.without_indexes(path))}\b", text))


def complains_of_unknown(message: str, unknowns: Iterable[Path]) -> bool:
    """Whether a message is about an unknown: it quotes the placeholder or the path."""
    return PLACEHOLDER in message or bool(blamed(message, unknowns))


def without(obj: Object, places: Iterable[Path]) -> Object:
    """The object without these paths. List items are removed from the end, so that earlier indexes stay valid."""
    pruned = copy.deepcopy(obj)
    for path in sorted(places, key=lambda path: [(isinstance(part, str), part) for part in path], reverse=True):
        parent: Any = pruned
        for part in path[:-1]:
            parent = parent[part]
        del parent[path[-1]]
    return pruned


def _unknowns(value: Any, path: Path) -> Iterator[Path]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _unknowns(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknowns(item, (*path, index))
    elif isinstance(value, str) and UNKNOWN in value:
        yield path


def _replaced(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _replaced(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item) for item in value]
    return value.replace(UNKNOWN, PLACEHOLDER) if isinstance(value, str) else value


CONFLICT_HELP = (
    'Another field manager owns the field now. To take it over, set the annotation pulumi.com/patchForce: "true" on '
    "the resource or enablePatchForce on the provider; to leave it to that manager, list it in ignoreChanges."
)
_ACCOUNT_FIELDS: tuple[Path, ...] = (("spec", "serviceAccountName"), ("spec", "serviceAccount"))
_BY_CLUSTER = re.compile(r"denied (the )?request|is forbidden: ")
"""Refusals by policies, webhooks and quotas, of which a spare has none (k8s.io/apiserver v0.36, pkg/admission/plugin:
policy/validating/dispatcher.go, webhook/errors/statuserror.go; apimachinery, pkg/api/errors, NewForbidden)."""
_REPLACEMENT_NAME = 50
"""Characters kept of the name for a dry run beside the object of that name; a Service's name may have 63."""


@dataclass(frozen=True)
class Manifest:
    """A manifest to validate."""

    obj: Object  # the manifest
    manager: str  # the field manager that would apply it
    replaced: bool = False  # whether it replaces an object of the same name
    fresh: bool = False
    """Whether it creates an object. If an object of its name exists, it may be a replacement, which the engine does not
    report when it checks the new object, and the old one is deleted first; else `create` refuses."""
    force: bool = False  # whether to take fields from other managers
    by_helm: bool = False
    """Whether Helm installs it, which creates an object or patches it, and never applies it server-side: for server-
    side apply a null is invalid, and so is a list with two items of one name, which Helm's users have."""


@dataclass(frozen=True)
class Verdict:
    """`refusal` is the API server's message, `unvalidated` what was not validated and why; empty if there is none."""

    refusal: str = ""
    unvalidated: str = ""


def validate(targets: Targets, settings: Settings, manifest: Manifest) -> Verdict:
    """Dry-run the manifest. Raises UnreachableError if no API server answers."""
    ref = Ref.of(manifest.obj)
    target = targets.serving(settings, ref)
    wanted = targets.pool.wanted(settings.program, target.cluster)
    if ref.kind == "EC2NodeClass" and (refusal := _without_image(manifest.obj, wanted)):
        return Verdict(refusal)
    try:
        if not target.cluster:
            return _validate_unknowns(target.client, _beside(replace(manifest, force=True)))
        verdict = _validate_in_cluster(target.client, manifest)
    except NoSuchKindError as error:
        return _not_served(ref, error)
    coming = targets.pool.awaits(settings.program, target.cluster)
    if not (coming and verdict.refusal) or _BY_CLUSTER.search(verdict.refusal):
        return verdict
    # As a new object: what exists may be what refuses the change.
    anew = _beside(replace(manifest, replaced=True))
    clients = (target.client, targets.spare(settings).client)
    now, later = (bool(_validate_unknowns(client, anew).refusal) for client in clients)
    text = f"Kubernetes {coming} accepts it, and the version that runs until then refuses it: {verdict.refusal}"
    return Verdict(unvalidated=text) if now and not later else verdict


def _without_image(obj: Object, version: str) -> str:
    """The alias of a node class that has no image at a version. Karpenter accepts the class, which is never ready
    (karpenter-provider-aws v1.14.1, pkg/controllers/nodeclass/ami.go; pull request 8151)."""
    last = kubernetes.LAST_OF_AL2
    for at, term in enumerate((obj.get("spec") or {}).get("amiSelectorTerms") or ()):
        if str(term.get("alias")).startswith("al2@") and (kubernetes.skew(last, version) or 0) > 0:
            words = f"EKS has images of Amazon Linux 2 up to Kubernetes {last}, and this is {version}: write al2023@"
            return f"spec.amiSelectorTerms[{at}].alias: no image is {term['alias']}. {words}"
    return ""


def _validate_in_cluster(client: KubeClient, manifest: Manifest) -> Verdict:
    if manifest.replaced:
        return _validate_unknowns(client, _beside(manifest))
    verdict = _validate_unknowns(client, manifest)
    if not (verdict.refusal and manifest.fresh and client.metadata(Ref.of(manifest.obj)) is not None):
        return verdict
    # The refusal may concern a change of an object that will be deleted first, such as a Job's template.
    return _validate_unknowns(client, _beside(replace(manifest, replaced=True)))


def _not_served(ref: Ref, error: NoSuchKindError) -> Verdict:
    if not ref.custom:
        return Verdict(refusal=str(error))
    return Verdict(
        unvalidated=f"no cluster serves {ref.kind} of {ref.api_version} yet, and no available chart has its CRD"
    )


def _beside(manifest: Manifest) -> Manifest:
    """A replacement as a new object of another name, because the old one still exists."""
    metadata = manifest.obj["metadata"]
    if not manifest.replaced or "name" not in metadata:
        return manifest
    name = f"{str(metadata['name'])[:_REPLACEMENT_NAME].rstrip('-.')}-replacement"
    return replace(manifest, obj={**manifest.obj, "metadata": {**metadata, "name": name}}, force=True)


def _validate_unknowns(client: KubeClient, manifest: Manifest) -> Verdict:
    obj, unknowns = with_placeholders(manifest.obj)
    error = _refusal(client, replace(manifest, obj=obj))
    unvalidated = []
    if error is not None and error.missing_account is not None:
        # The program may make it before the pod; if it does not, the cluster refuses the pod.
        unvalidated.append(f"spec.serviceAccountName: there is no service account {_account(obj)} yet")
        obj = without(obj, [path for path in _ACCOUNT_FIELDS if path[1] in obj["spec"]])
        error = _refusal(client, replace(manifest, obj=obj))
    left_out: tuple[Path, ...] = blamed(error.message, unknowns) if error else ()
    if left_out:
        # Validate the rest too. If a removed field turns out to be required, that is not an error of the program.
        error = _refusal(client, replace(manifest, obj=without(obj, left_out)))
        fields = ", ".join(sorted({diff.write(path) for path in left_out}))
        unvalidated.append(f"{fields}: known only after other resources exist")
    refusal = _message(error, lambda text: not complains_of_unknown(text, unknowns)) if error else ""
    return Verdict(refusal, "; ".join(unvalidated))


def _account(pod: Object) -> str:
    """A pod's service account as `namespace/name`; a dry run may have looked for it in another namespace."""
    return f"{pod['metadata'].get('namespace') or DEFAULT_NAMESPACE}/{pod['spec'].get('serviceAccountName', 'default')}"


def _refusal(client: KubeClient, manifest: Manifest) -> ApiError | None:
    try:
        _dry_run(client, manifest)
    except ApiError as error:
        return error
    return None


def _dry_run(client: KubeClient, manifest: Manifest) -> None:
    """Dry-run the object, in `default` if its namespace does not exist yet.

    The namespace is looked up first: the API server waits 50 ms for a missing namespace (k8s.io/apiserver, admission
    plugin namespace/lifecycle, missingNamespaceWait), which took 6 of the 14 s of a preview of prod (2026-11).
    """
    obj = manifest.obj
    namespace = obj["metadata"].get("namespace") or DEFAULT_NAMESPACE
    if namespace == DEFAULT_NAMESPACE or client.metadata(Ref("v1", "Namespace", namespace)) is not None:
        _send(client, manifest)
        return
    elsewhere = {**obj, "metadata": {**obj["metadata"], "namespace": DEFAULT_NAMESPACE}}
    try:
        _send(client, replace(manifest, obj=elsewhere, force=True))
    except ApiError:
        try:
            _send(client, manifest)
        except ApiError as error:
            # The API server checks types before namespaces, and this message has the program's own namespace.
            if error.missing_namespace is None:
                raise
        raise


def _send(client: KubeClient, manifest: Manifest) -> None:
    if manifest.by_helm:
        _send_by_helm(client, manifest)
    else:
        client.apply(generated(manifest.obj), manifest.manager, force=manifest.force, dry_run=True)


def _send_by_helm(client: KubeClient, manifest: Manifest) -> None:
    try:
        client.create(manifest.obj, manifest.manager, dry_run=True)
    except ApiError as error:
        if error.reason != "AlreadyExists":
            raise
        client.merge(Ref.of(manifest.obj), manifest.obj, dry_run=True)


def _message(error: ApiError, concerns: Callable[[str], bool]) -> str:
    """The API server's message without the parts that don't concern the program; empty if nothing is left."""
    if error.conflict:
        return f"Server-Side Apply field conflict detected: {error.message}. {CONFLICT_HELP}"
    if concerns(error.message):
        return error.message
    causes: list[dict[str, Any]] = list(error.details.get("causes") or ())
    texts = [f"{cause.get('field')}: {cause.get('message')}" for cause in causes]
    if not texts:
        # Several type errors are indented lines of one message.
        texts = [line.strip() for line in re.split(r"\n\s+", error.message)[1:]]
    return "; ".join(text for text in texts if concerns(text))
