"""How a chart is installed: one way for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pulumi
from pulumi_kubernetes.helm.v3 import Release, RepositoryOptsArgs

from spec.catalog.charts import ChartRef

TIMEOUT_SECONDS: Final = 600
"""Twice Helm's own five minutes: the first pods may wait for the first node, and it takes two to four minutes to
come."""


def release(
    name: str,
    chart: ChartRef,
    *,
    namespace: str,
    values: Mapping[str, Any],
    opts: pulumi.ResourceOptions,
    release_name: str | None = None,
    skip_crds: bool = False,
) -> Release:
    """Register a Helm release that either stands whole or is taken back.

    `atomic` and `cleanup_on_fail` keep an interrupted install from blocking every later one with "another operation is
    in progress" (pulumi/pulumi-kubernetes#2054).

    Args:
        name: Logical name.
        chart: What to install.
        namespace: Where; it must exist.
        values: Values, differing from the chart's own.
        opts: Parent and what it waits for.
        release_name: Name for Helm, from which charts name their objects; the logical name where not given.
        skip_crds: Leave `crds/` of the chart alone: Helm would never upgrade them, so a chart of their own brings them.
    """
    return Release(
        name,
        name=release_name or name,
        chart=chart.chart,
        version=chart.version,
        repository_opts=RepositoryOptsArgs(repo=chart.repository) if chart.repository else None,
        namespace=namespace,
        values=dict(values),
        skip_crds=skip_crds,
        atomic=True,
        cleanup_on_fail=True,
        timeout=TIMEOUT_SECONDS,
        opts=opts,
    )
