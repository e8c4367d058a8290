"""Helm releases by their chart."""

from __future__ import annotations

from policies.resources.resource import Resource, Stack
from policies.resources.tokens import RELEASE


def releases_of(stack: Stack, chart: str) -> list[Resource]:
    """The releases of a chart, whether it comes from a repository, a registry or a directory."""
    return [release for release in stack.of(RELEASE) if str(release["chart"].raw).rpartition("/")[2] == chart]
