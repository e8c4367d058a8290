"""How Helm charts are installed, the same way for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

import pulumi
from pulumi_kubernetes.helm.v3 import Release, RepositoryOptsArgs

from spec.catalog.charts import ChartRef
from spec.settings.charts import Charts

TIMEOUT_SECONDS: Final = 600
"""Twice Helm's default of five minutes: the first pods may wait for the first node, which takes two to four minutes."""
PROJECT: Final = PurePosixPath("..")
"""The folder of Pulumi.yaml, from the folder in which Pulumi runs the program and its plugins (`main`)."""


@dataclass(frozen=True, kw_only=True)
class Location:
    """What a release names its chart by.

    Attributes:
        chart: Name of the chart in `repo`, an `oci://` reference, or a path.
        version: Exact version; of a path, Helm reads the version from Chart.yaml.
        repo: URL of the repository; None for an `oci://` reference and a path.
    """

    chart: str
    version: str
    repo: str | None = None


def locate(chart: ChartRef, source: Charts) -> Location:
    """Where a chart is: in its publisher's repository unless the settings name another source."""
    if source.path is not None:
        # Helm takes a path for the name of a repository unless it is absolute or begins with a dot.
        return Location(chart=str(PROJECT / source.path / chart.name), version=chart.version)
    if source.registry is not None:
        return Location(chart=f"{source.registry}/{chart.name}", version=chart.version)
    return Location(chart=chart.chart, version=chart.version, repo=chart.repository)


def release(
    name: str,
    chart: Location,
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
        chart: The chart to install, from `locate`.
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
        repository_opts=RepositoryOptsArgs(repo=chart.repo) if chart.repo else None,
        namespace=namespace,
        values=dict(values),
        skip_crds=skip_crds,
        atomic=True,
        cleanup_on_fail=True,
        timeout=TIMEOUT_SECONDS,
        opts=opts,
    )
