"""What a pin of a chart is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, kw_only=True)
class ChartRef:
    """One version of one chart.

    Attributes:
        chart: Name in its repository, or a whole `oci://` reference.
        repository: URL of the repository; None for an `oci://` reference.
        version: Exact version, written as its publisher does (with `v` or without).
        released: Day of the release.
        source: Where version and day were read.
    """

    chart: str
    repository: str | None = None
    version: str
    released: date
    source: str

    @property
    def name(self) -> str:
        """Name of the chart alone: `kueue` of `oci://registry.k8s.io/kueue/charts/kueue`."""
        return self.chart.rpartition("/")[2]
