"""Rules for pods on manifests: those that a chart was rendered to, or that somebody wrote by hand.

A Release is one resource, so its pods pass by every rule; where its chart can be rendered (`helm template`), what comes
out is judged here by the same rules as what the program declares.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

import yaml
from pulumi_policy import EnforcementLevel

from policies.levels import environment
from policies.pack import identities
from policies.resource import Resource
from policies.rule import ANY, Context, ResourceRule
from policies.rules import RULES
from policies.runner import Finding, findings
from policies.suppressions import Suppressions, load
from policies.tokens import RELEASE

SUFFIXES: Final = (".yaml", ".yml", ".json")


def token(manifest: Mapping[str, Any]) -> str:
    """Type token of a manifest: `kubernetes:apps/v1:Deployment`, `kubernetes:core/v1:Pod`."""
    version = str(manifest["apiVersion"])
    return f"kubernetes:{version if '/' in version else f'core/{version}'}:{manifest['kind']}"


def read(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Manifests of all files below a folder, lists taken apart, in the order of their paths.

    Raises:
        ValueError: A file is no YAML, naming it.
    """
    for path in sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES):
        try:
            documents = list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
        except yaml.YAMLError as error:
            msg = f"{path}: no YAML: {error}"
            raise ValueError(msg) from error
        for document in documents:
            yield from _objects(document)


def _objects(document: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(document, Mapping) and "kind" in document and "apiVersion" in document:
        if str(document["kind"]).endswith("List") and isinstance(document.get("items"), list):
            for item in document["items"]:
                yield from _objects(item)
        else:
            yield document


def resource(manifest: Mapping[str, Any], stack: str, namespace: str = "") -> Resource:
    """A manifest as rules see a resource; `namespace` is where it goes when it does not say so itself."""
    metadata = manifest.get("metadata") or {}
    home = metadata.get("namespace") or namespace
    name = "/".join(part for part in (home, str(metadata.get("name", "unnamed"))) if part)
    kind = token(manifest)
    props = {**manifest, "metadata": {**metadata, "namespace": home}} if home else dict(manifest)
    return Resource(type=kind, name=name, urn=f"urn:pulumi:{stack}::manifests::{kind}::{name}", read=lambda: props)


def findings_for_manifests(
    manifests: Iterable[Mapping[str, Any]],
    *,
    stack: str,
    today: date,
    namespace: str = "",
    suppressions: Suppressions | None = None,
) -> list[Finding]:
    """What the rules for workloads find in manifests, at the levels and settings of a stack.

    Rules of the stack, which need pools and queues, are asked about those of the program alone.

    Args:
        manifests: Objects of the Kubernetes API.
        stack: Name of the stack.
        today: Day on which suppressions are judged.
        namespace: Where objects go that name no namespace: that of the release.
        suppressions: Excuses; those of the pack where not given.
    """
    stage = environment(stack)
    suppressions = suppressions if suppressions is not None else load(identities())
    resources = [resource(manifest, stack, namespace) for manifest in manifests]
    found: list[Finding] = []
    for rule in RULES:
        if not isinstance(rule, ResourceRule) or rule.levels.of(stage) is EnforcementLevel.DISABLED:
            continue
        if rule.types != ANY and not _about_objects(rule.types):
            continue
        context = Context(settings=rule.defaults(stage), today=today)
        for one in resources:
            found += findings(rule, one, context, suppressions)
    return found


def _about_objects(types: tuple[str, ...]) -> bool:
    return any(kind.startswith("kubernetes:") and kind != RELEASE for kind in types)
