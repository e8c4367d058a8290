"""How Helm charts are installed, the same way for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pulumi
from pulumi_kubernetes.helm.v3 import Release, RepositoryOptsArgs

from spec.catalog.charts import ChartRef

TIMEOUT_SECONDS: Final = 600
"""Twice Helm's default of five minutes: the first pods may wait for the first node, which takes two to four minutes."""


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
    """Declare a Helm release that either succeeds as a whole or is rolled back.

    `atomic` and `cleanup_on_fail` keep an interrupted install from blocking every later one with "another operation is
    in progress" (pulumi/pulumi-kubernetes#2054).

    Args:
        name: Logical name.
        chart: The chart to install.
        namespace: Its namespace, which must exist.
        values: Values that differ from the chart's defaults.
        opts: Parent and dependencies.
        release_name: Name of the Helm release, from which charts derive names of objects; the logical name by default.
        skip_crds: Don't install the chart's `crds/`: Helm never upgrades them, so another chart installs them.
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
