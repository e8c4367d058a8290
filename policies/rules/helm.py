"""Helm releases: pinned charts, atomic changes, and values."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from policies.checks.pods import exempt, node_software
from policies.checks.questions import both, false, true
from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.resources.tokens import RELEASE
from policies.rule import Context, ResourceRule, Violation, setting, violation
from spec.catalog.credentials import credentials
from spec.catalog.software import CHARTS

_EXACT: Final = re.compile(r"v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?")
"""One version (semver.org); Helm takes `1.x`, `^1.2.0`, `>=1` as ranges."""
_DIRECTORY: Final = "../[!.]*"  # a directory of the checkout: its charts are reviewed like code
_REPOSITORIES: Final = sorted({row.chart if row.in_registry else row.repository for row in CHARTS.values()})
"""Those of the pinned charts; in a registry, the charts themselves."""
_ITSELF: Final = re.compile(r".*://|[./]")  # begins a chart that names its own place: an `oci://` reference or a path


def _floating(release: Resource, _: Context) -> Iterator[Violation]:
    version = release["version"]
    text = version.text()
    if version.missing or (text is not None and not _EXACT.fullmatch(text)):
        yield violation(version)


def _other_repository(release: Resource, context: Context) -> Iterator[Violation]:
    chart = release["chart"].text()
    repository = release["chart"] if chart is None or _ITSELF.match(chart) else release["repositoryOpts"]["repo"]
    url = repository.text()
    known = url is not None and any(fnmatchcase(url, pattern) for pattern in context.settings["repositories"])
    if not repository.unknown and not release["chart"].unknown and not known:
        yield violation(repository)


def _rewritten(release: Resource, _: Context) -> Iterator[Violation]:
    """Helm pipes all manifests of the chart through this command (pulumi-kubernetes, `Release.postrender`).

    The provider fills an empty one into the inputs of every release (v4.34.2, provider/pkg/provider/helm_release.go).
    """
    if release["postrender"].known and release["postrender"].text():
        yield violation(release["postrender"])


PINNED = ResourceRule(
    name="helm-pinned",
    types=(RELEASE,),
    settings={
        "repositories": setting("globs of allowed chart repositories and directories", [*_REPOSITORIES, _DIRECTORY])
    },
    finds={
        "version": _floating,
        "repository": _other_repository,
        "devel": false("devel"),
        "postrender": _rewritten,
    },
)


def _timeout(release: Resource, context: Context) -> Iterator[Violation]:
    seconds = release["timeout"].number()
    if release["timeout"].missing or (seconds is not None and not 0 < seconds <= context.settings["maximumSeconds"]):
        yield violation(release["timeout"])


ATOMIC = ResourceRule(
    name="helm-atomic",
    types=(RELEASE,),
    settings={"maximumSeconds": setting("maximum timeout of a release, in seconds", 1800, minimum=1)},
    finds={
        "whole": both(true("atomic"), true("cleanupOnFail")),
        "timeout": _timeout,
    },
)


_SWITCHES: Final = ("privileged", "hostNetwork", "hostPID", "hostIPC", "allowPrivilegeEscalation")
_OBJECT: Final = re.compile(r"""(^|[\s{,-])["']?(kind["']?\s*:(?!\s*["']?Configuration\b)|verbs["']?\s*:)""")
"""In a text: a field of an object or of a role's rule. Kueue's settings are of the kind Configuration."""
_SECRET_WORDS: Final = ("password", "token", "secretkey", "apikey", "clientsecret")


def _nodes(node: Node) -> Iterator[Node]:
    """The node and everything below it."""
    yield node
    raw = node.raw
    for below in node.fields().values() if isinstance(raw, dict) else node.items() if isinstance(raw, list) else ():
        yield from _nodes(below)


def _maps(node: Node) -> Iterator[Node]:
    return (one for one in _nodes(node) if isinstance(one.raw, dict))


def _host_access(release: Resource, context: Context) -> Iterator[Violation]:
    for node in () if exempt(release, context) else _maps(release["values"]):
        for key in _SWITCHES:
            if key in node.raw and node[key].raw is True:
                yield violation(node[key])


def _as_root(release: Resource, context: Context) -> Iterator[Violation]:
    for node in () if exempt(release, context) else _maps(release["values"]):
        if node["runAsUser"].raw == 0:
            yield violation(node["runAsUser"])


def _unbounded(release: Resource, _: Context) -> Iterator[Violation]:
    for node in _maps(release["values"]):
        resources = node["resources"]
        requests = resources["requests"] if isinstance(resources.raw, dict) else resources
        # Volume claims have `resources` as well, with storage only.
        computes = isinstance(requests.raw, dict) and {"cpu", "memory"}.intersection(requests.raw)
        if computes and resources["limits"]["memory"].missing:
            yield violation(resources["limits"])


def _floating_image(release: Resource, _: Context) -> Iterator[Violation]:
    for node in _maps(release["values"]):
        if node["tag"].raw == "latest":
            yield violation(node["tag"])


def _plain_secret(release: Resource, _: Context) -> Iterator[Violation]:
    for node in _maps(release["values"]):
        for key, value in node.fields().items():
            named = key.lower() in _SECRET_WORDS and isinstance(value.raw, str) and value.raw != ""
            if named and not any(credentials(str(value.raw))):
                yield Violation(path=value.path, got="plain text")


def _objects(release: Resource, _: Context) -> Iterator[Violation]:
    """Charts have values for any object, as a map or as a template, and for rules of their controller's role."""
    for node in _nodes(release["values"]):
        raw = node.raw
        if isinstance(raw, dict):
            found = "verbs" in raw or {"apiVersion", "kind"} <= raw.keys()
        else:
            found = isinstance(raw, str) and _OBJECT.search(raw) is not None
        if found:
            yield violation(node)


HARDENED = ResourceRule(
    name="helm-values-hardened",
    types=(RELEASE,),
    settings=node_software(),
    finds={
        "isolated": _host_access,
        "user": _as_root,
        "memory": _unbounded,
        "image": _floating_image,
        "secret": _plain_secret,
        "objects": _objects,
    },
)
