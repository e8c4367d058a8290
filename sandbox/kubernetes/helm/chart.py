"""Available charts: unpacked folders below `SLIPWAY_CHARTS`, or a local path that the program names.

    <SLIPWAY_CHARTS>/<any name>/{Chart.yaml, values.yaml, values.schema.json, crds/*.yaml, templates/*}

Only Chart.yaml is required. A folder without templates is enough to check values and to install CRDs. A folder from a
source tree, where Chart.yaml has a placeholder for the version, may name its release in a file SOURCE.txt:
`chart_version: 0.19.2`.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from sandbox.errors import SandboxError
from sandbox.kubernetes.helm.text import crds, mapping
from sandbox.kubernetes.objects import Object

SOURCE_FILE = "SOURCE.txt"
_VERSION = re.compile(r"^version:.*$", re.MULTILINE)
_STATED = re.compile(r"^chart_version: *(v?\d\S*)", re.MULTILINE)


@dataclass(frozen=True)
class Chart:
    """A chart on disk. Everything but its metadata is read on first use."""

    path: Path
    name: str
    version: str
    app_version: str
    dependencies: tuple[tuple[str, str], ...] = ()
    """(name in values, name of the chart) of each subchart."""
    conditions: tuple[str, ...] = ()
    """Paths in the values that enable subcharts, such as `nfd.enabled`."""

    @property
    def has_templates(self) -> bool:
        """Whether the chart can be rendered."""
        return (self.path / "templates").is_dir()

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        """The chart's values.yaml."""
        return _mapping(self.path / "values.yaml")

    @cached_property
    def values_text(self) -> str:
        """The text of values.yaml: its comments document values that have no default."""
        file = self.path / "values.yaml"
        return file.read_text(encoding="utf-8") if file.is_file() else ""

    @cached_property
    def template_text(self) -> str:
        """The text of all templates."""
        files = sorted((self.path / "templates").rglob("*"))
        return "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files if file.is_file())

    @cached_property
    def schema(self) -> Mapping[str, Any] | None:
        """The chart's values.schema.json; None if it has none. Raises SandboxError if it can't be read."""
        file = self.path / "values.schema.json"
        if not file.is_file():
            return None
        try:
            document: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            msg = f"{file} is not valid JSON: {error}"
            raise SandboxError(msg) from error
        return document

    @cached_property
    def crds(self) -> tuple[Object, ...]:
        """The CRDs in `crds/`, including those of subcharts that are packed with the chart."""
        files = [*sorted(self.path.glob("crds/*.y*ml")), *sorted(self.path.glob("charts/*/crds/*.y*ml"))]
        return crds(files)

    def subchart(self, name: str) -> Chart | None:
        """A subchart that is unpacked inside the chart."""
        return _read(self.path / "charts" / name)


@contextmanager
def packaged(chart: Chart) -> Iterator[Path]:
    """The chart's folder for Helm, which records the version of its Chart.yaml: one from a source tree gets the version
    of its release there, as `helm package --version` writes it."""
    stated = str(_mapping(chart.path / "Chart.yaml").get("version") or "")
    if stated == chart.version:
        yield chart.path
        return
    with tempfile.TemporaryDirectory(prefix="slipway-chart-") as name:
        copy = Path(name) / chart.name
        shutil.copytree(chart.path, copy)
        text = (copy / "Chart.yaml").read_text(encoding="utf-8")
        (copy / "Chart.yaml").write_text(_VERSION.sub(f"version: {chart.version}", text, count=1), encoding="utf-8")
        yield copy


class Charts:
    """Finds charts by the name in a Release: `kueue`, `repo/kueue`, `oci://registry.k8s.io/kueue/charts/kueue`."""

    def __init__(self, directory: Path | Callable[[], Path | None] | None) -> None:
        """`directory` is the folder of charts, or names it at each look."""
        self._named = directory

    def find(self, reference: str, version: str = "") -> Chart | None:
        """The chart, of that version if there are several; None if it is not available."""
        local = Path(reference)
        if local.is_absolute() and (chart := _read(local)) is not None:
            return chart
        name = reference.rstrip("/").rpartition("/")[2]
        candidates = [chart for chart in self._all() if name in (chart.name, chart.path.name)]
        # v26.7.0 and 26.7.0 are the same version to Helm.
        exact = [chart for chart in candidates if chart.version.lstrip("v") == version.lstrip("v")]
        return next(iter([*exact, *candidates]), None)

    def _all(self) -> list[Chart]:
        directory = self._named() if callable(self._named) else self._named
        if directory is None or not directory.is_dir():
            return []
        candidates = (_read(path) for path in sorted(directory.iterdir()))
        return [chart for chart in candidates if chart is not None]


def _read(path: Path) -> Chart | None:
    file = path / "Chart.yaml"
    return _read_changed(path, file.stat().st_mtime_ns) if file.is_file() else None


@lru_cache(maxsize=256)
def _read_changed(path: Path, _changed: int) -> Chart:
    """Read a chart, once per version of its Chart.yaml."""
    metadata = _mapping(path / "Chart.yaml")
    dependencies = [each for each in metadata.get("dependencies") or () if isinstance(each, Mapping)]
    conditions = [each.strip() for one in dependencies for each in str(one.get("condition") or "").split(",")]
    return Chart(
        path,
        str(metadata.get("name") or path.name),
        _stated_version(path) or str(metadata.get("version") or ""),
        str(metadata.get("appVersion") or ""),
        tuple((str(each.get("alias") or each["name"]), str(each["name"])) for each in dependencies),
        tuple(each for each in conditions if each),
    )


def _stated_version(path: Path) -> str:
    file = path / SOURCE_FILE
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    match = _STATED.search(text)
    return match.group(1) if match else ""


def _mapping(file: Path) -> Mapping[str, Any]:
    return mapping(file.read_text(encoding="utf-8"), str(file)) if file.is_file() else {}
