"""Small charts that the tests write."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from sandbox.kubernetes.helm.binary import available
from sandbox.kubernetes.helm.chart import Chart, Charts
from tests.support.cases import beside

DATA: Final = beside(__file__)
needs_helm = pytest.mark.skipif(
    available() is None, reason="helm is missing: run `python -m sandbox.toolchain ensure helm`"
)

VALUES = DATA["values"]
CONFIG_MAP = DATA["config map"]
TEMPLATES = {"config.yaml": CONFIG_MAP}
SECOND = "apiVersion: v1\nkind: Secret\nmetadata: {name: second}\n"
REFUSED = "apiVersion: v1\nkind: Service\nmetadata: {name: refused}\nspec: {ports: [{port: 99999}]}\n"
GAUGE = """\
apiVersion: helm.test/v1
kind: Gauge
metadata: {name: {{ .Release.Name }}-gauge}
spec: {level: {{ .Values.replicas }}}
"""


def write_chart(
    directory: Path,
    name: str = "widget",
    *,
    values: str = VALUES,
    templates: dict[str, str] | None = None,
    definitions: list[dict[str, Any]] | None = None,
    schema: dict[str, Any] | None = None,
    **metadata: Any,
) -> Path:
    """Write a chart folder below the directory, with files from the arguments."""
    path = directory / name
    path.mkdir(parents=True)
    chart = {"apiVersion": "v2", "name": name, "version": "1.2.3", "appVersion": "v1.2", **metadata}
    (path / "Chart.yaml").write_text(yaml.safe_dump(chart))
    (path / "values.yaml").write_text(values)
    for folder, files in (("templates", templates or {}), ("crds", _files(definitions or []))):
        for file, text in files.items():
            (path / folder).mkdir(exist_ok=True)
            (path / folder / file).write_text(text)
    if schema is not None:
        (path / "values.schema.json").write_text(json.dumps(schema))
    return path


def chart_at(path: Path) -> Chart:
    """The chart in a folder."""
    chart = Charts(None).find(str(path))
    assert chart is not None
    return chart


def _files(definitions: list[dict[str, Any]]) -> dict[str, str]:
    return {f"{definition['metadata']['name']}.yaml": yaml.safe_dump(definition) for definition in definitions}


def release(namespace: str, **more: Any) -> dict[str, Any]:
    return {"chart": "oci://example.com/charts/widget", "name": "one", "namespace": namespace, **more}
