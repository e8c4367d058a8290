"""Helm releases: a version, a known place, and no half-installed state."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from pulumi_policy import Severity

from policies.levels import Levels
from policies.resource import Resource
from policies.rule import Check, Context, ResourceRule, Setting, Violation, everywhere, violation
from policies.tokens import RELEASE

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
    "https://prometheus-community.github.io/helm-charts",
    "https://charts.jetstack.io",
    "https://kubecost.github.io/*",
    "https://opencost.github.io/*",
    "https://argoproj.github.io/argo-helm",
    "https://community-charts.github.io/helm-charts",
]


def _floating(release: Resource, _: Context) -> Iterator[Violation]:
    version = release["version"]
    text = version.text()
    if version.missing or (text is not None and not _EXACT.fullmatch(text)):
        yield violation(version)


def _unknown_place(release: Resource, context: Context) -> Iterator[Violation]:
    chart = release["chart"].text()
    repository = release["chart"] if chart is None or "://" in chart else release["repositoryOpts"]["repo"]
    place = repository.text()
    known = place is not None and any(fnmatchcase(place, pattern) for pattern in context.settings["repositories"])
    if not repository.unknown and not release["chart"].unknown and not known:
        yield violation(repository)


PINNED = ResourceRule(
    name="helm-pinned",
    title="A chart comes from a known place, at one version",
    types=(RELEASE,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="A range is another chart tomorrow, with whatever rights the old one had.",
    fix="Pin the chart in spec.catalog.charts; a new place is added to the rule's setting.",
    settings={
        "repositories": Setting(
            asks="globs of repositories from which charts may come",
            schema={"type": "array", "items": {"type": "string"}},
            values=everywhere(_REPOSITORIES),
        )
    },
    checks={
        "version": Check(
            asks="must be one version",
            find=_floating,
        ),
        "repository": Check(
            asks="must be one of the repositories that are allowed",
            find=_unknown_place,
        ),
    },
)


def _half_done(release: Resource, _: Context) -> Iterator[Violation]:
    flags = [release["atomic"], release["cleanupOnFail"]]
    yield from (violation(flag) for flag in flags if flag.is_false(default=False))


def _patience(release: Resource, context: Context) -> Iterator[Violation]:
    seconds = release["timeout"].number()
    if release["timeout"].missing or (seconds is not None and not 0 < seconds <= context.settings["maximumSeconds"]):
        yield violation(release["timeout"])


ATOMIC = ResourceRule(
    name="helm-atomic",
    title="A release stands whole or not at all",
    types=(RELEASE,),
    severity=Severity.MEDIUM,
    levels=Levels("M/M/M"),
    why="An install that was cut off blocks every later one (pulumi/pulumi-kubernetes#2054).",
    fix="Install it by components.base.release.",
    settings={
        "maximumSeconds": Setting(
            asks="seconds that a release may take",
            schema={"type": "integer", "minimum": 1},
            values=everywhere(1800),
        )
    },
    checks={
        "whole": Check(
            asks="must be true",
            find=_half_done,
        ),
        "timeout": Check(
            asks="must be set, and bounded",
            find=_patience,
        ),
    },
)

RULES = (PINNED, ATOMIC)
