"""Helm releases: versions, repositories and atomic installs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from pulumi_policy import Severity

from policies.levels import Levels
from policies.resources.resource import Resource
from policies.resources.tokens import RELEASE
from policies.rule import Check, Context, ResourceRule, Setting, Violation, everywhere, violation

_EXACT: Final = re.compile(r"v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?")
"""One version (semver.org); Helm takes `1.x`, `^1.2.0`, `>=1` as ranges."""
_REPOSITORIES: Final = [
    "oci://public.ecr.aws/karpenter/*",
    "oci://registry.k8s.io/*",
    "oci://ghcr.io/kserve/*",
    "oci://ghcr.io/kubeflow/*",
    "https://kubernetes.github.io/*",
    "https://kubernetes-sigs.github.io/*",
    "https://aws.github.io/*",
    "https://helm.ngc.nvidia.com/nvidia",
    "https://kedacore.github.io/charts",
    "https://fluent.github.io/helm-charts",
    "https://prometheus-community.github.io/helm-charts",
    "https://charts.jetstack.io",
    "https://kubecost.github.io/*",
    "https://opencost.github.io/*",
    "https://argoproj.github.io/argo-helm",
    "https://ray-project.github.io/kuberay-helm",
    "https://community-charts.github.io/helm-charts",
    "../[!.]*",
]
"""The last one is a directory of the checkout: its charts are reviewed like code."""
_ITSELF: Final = re.compile(r".*://|[./]")
"""Begins a chart that names its own place: an `oci://` reference or a path."""


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


def _in_development(release: Resource, _: Context) -> Iterator[Violation]:
    if release["devel"].is_true():
        yield violation(release["devel"])


PINNED = ResourceRule(
    name="helm-pinned",
    title="Charts come from allowed repositories at exact versions",
    types=(RELEASE,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="With a version range, a later update can install another chart with the same permissions.",
    fix="Pin the chart in spec.catalog.charts; add a new repository or directory to the rule's setting.",
    settings={
        "repositories": Setting(
            asks="globs of allowed chart repositories and directories",
            schema={"type": "array", "items": {"type": "string"}},
            values=everywhere(_REPOSITORIES),
        )
    },
    checks={
        "version": Check(
            asks="must be an exact version",
            find=_floating,
        ),
        "repository": Check(
            asks="must be an allowed repository",
            find=_other_repository,
        ),
        "devel": Check(
            asks="must be false: it stands for the range >0.0.0-0",
            find=_in_development,
        ),
        "postrender": Check(
            asks="must not be set: the command runs with the credentials of the deployment",
            find=_rewritten,
            fix="Set values of the chart.",
        ),
    },
)


def _not_atomic(release: Resource, _: Context) -> Iterator[Violation]:
    flags = [release["atomic"], release["cleanupOnFail"]]
    yield from (violation(flag) for flag in flags if flag.is_false(default=False))


def _timeout(release: Resource, context: Context) -> Iterator[Violation]:
    seconds = release["timeout"].number()
    if release["timeout"].missing or (seconds is not None and not 0 < seconds <= context.settings["maximumSeconds"]):
        yield violation(release["timeout"])


ATOMIC = ResourceRule(
    name="helm-atomic",
    title="Releases are installed completely or not at all",
    types=(RELEASE,),
    severity=Severity.MEDIUM,
    levels=Levels("M/M/M"),
    why="An interrupted install blocks every later one (pulumi/pulumi-kubernetes#2054).",
    fix="Install it with components.base.release.",
    settings={
        "maximumSeconds": Setting(
            asks="maximum timeout of a release, in seconds",
            schema={"type": "integer", "minimum": 1},
            values=everywhere(1800),
        )
    },
    checks={
        "whole": Check(
            asks="must be true",
            find=_not_atomic,
        ),
        "timeout": Check(
            asks="must be set, and at most the rule's setting",
            find=_timeout,
        ),
    },
)

RULES = (PINNED, ATOMIC)
