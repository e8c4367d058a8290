"""Evaluation of Kubernetes manifests, such as rendered Helm charts.

A Release is one resource, so rules don't see its pods. Where its chart can be rendered (`helm template`), this module
evaluates the manifests by the same rules as the resources of the program.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

from pulumi_policy import EnforcementLevel

from policies.pack import identities
from policies.resources.resource import Resource
from policies.resources.tokens import RELEASE
from policies.rule import ANY, Context, ResourceRule, environment
from policies.rules import RULES
from policies.runner import Finding, findings
from policies.suppressions import Suppressions, load
from spec import strict_yaml
from spec.errors import refuse

SUFFIXES: Final = (".yaml", ".yml", ".json")


def token(manifest: Mapping[str, Any]) -> str:
    """Type token of a manifest: `kubernetes:apps/v1:Deployment`, `kubernetes:core/v1:Pod`."""
    version = str(manifest["apiVersion"])
    return f"kubernetes:{version if '/' in version else f'core/{version}'}:{manifest['kind']}"


def files(place: Path) -> list[Path]:
    """A file, or all files of manifests below a folder, in the order of their paths. Raises SlipwayError."""
    if not place.exists():
        refuse(f"{place}: manifests must be in a file or a folder (given: none of this name). Name YAML or JSON files.")
    found = [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.suffix in SUFFIXES)
    for path in found:
        if not path.resolve().is_relative_to(place.resolve()):
            refuse(f"{path}: a file must be in the folder (given: a link out of it). Remove the link.")
    return found


def read(place: Path) -> list[Mapping[str, Any]]:
    """Manifests of a file, or of all files below a folder, with items of lists. Raises SlipwayError, exit code 2, if
    there is nothing of this name, or a file is a link out of the folder, too large or not valid YAML."""
    return [one for path in files(place) for document in strict_yaml.documents(path) for one in _objects(document)]


def _objects(document: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(document, Mapping) and "kind" in document and "apiVersion" in document:
        if str(document["kind"]).endswith("List") and isinstance(document.get("items"), list):
            for item in document["items"]:
                yield from _objects(item)
        else:
            yield document


def resource(manifest: Mapping[str, Any], stack: str, namespace: str = "") -> Resource:
    """A manifest as a resource for rules; `namespace` is the default for manifests without one."""
    metadata = manifest.get("metadata") or {}
    space = metadata.get("namespace") or namespace
    name = "/".join(part for part in (space, str(metadata.get("name", "unnamed"))) if part)
    kind = token(manifest)
    props = {**manifest, "metadata": {**metadata, "namespace": space}} if space else dict(manifest)
    return Resource(type=kind, name=name, urn=f"urn:pulumi:{stack}::manifests::{kind}::{name}", read=lambda: props)


def findings_for_manifests(
    manifests: Iterable[Mapping[str, Any]],
    *,
    stack: str,
    today: date,
    namespace: str = "",
    suppressions: Suppressions | None = None,
    account: str = "",
) -> list[Finding]:
    """Findings of the rules for Kubernetes objects in manifests, with the levels and settings of a stack.

    Stack rules, which need pools and queues, are evaluated for the program's resources only.

    Args:
        manifests: Objects of the Kubernetes API.
        today: Date for the expiry of suppressions.
        namespace: Namespace of objects that name none: that of the release.
        suppressions: Suppressions; by default those of the pack.
        account: Account of the stack; if none is given, images may be in any account's registry.
    """
    stage = environment(stack)
    suppressions = suppressions if suppressions is not None else load(identities())
    resources = [resource(manifest, stack, namespace) for manifest in manifests]
    all_findings: list[Finding] = []
    for rule in RULES:
        if not isinstance(rule, ResourceRule) or rule.levels.of(stage) is EnforcementLevel.DISABLED:
            continue
        if rule.program_only or (rule.types != ANY and not _for_objects(rule.types)):
            continue
        context = Context(settings=rule.defaults(stage), today=today, installed=True, owner=account)
        for one in resources:
            all_findings += findings(rule, one, context, suppressions)
    return all_findings


def _for_objects(types: tuple[str, ...]) -> bool:
    return any(kind.startswith("kubernetes:") and kind != RELEASE for kind in types)
