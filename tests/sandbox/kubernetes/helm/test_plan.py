from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes.helm import binary
from sandbox.kubernetes.helm.chart import Charts
from sandbox.kubernetes.helm.preview import Plan, make_plan
from sandbox.notes import NoteKind
from tests.sandbox.kubernetes.helm.charts import CONFIG_MAP, write_chart


@pytest.fixture(autouse=True)
def helm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binary, "available", lambda: Path("/helm"))


def plan(directory: Path, **inputs: Any) -> Plan:
    return make_plan(Charts(directory), {"chart": "widget", **inputs})


def test_a_release_of_a_missing_chart_is_recorded(tmp_path: Path) -> None:
    found = plan(tmp_path)
    assert found.mode is NoteKind.RECORDED
    assert "SLIPWAY_CHARTS" in found.text
    assert found.problems({"anything": 1}) == []


@pytest.mark.parametrize(
    "why", ["it has no templates here", "its subcharts are missing: store", "helm is not installed"]
)
def test_the_reason_why_a_chart_is_not_installed_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    templates = None if "templates" in why else {"a.yaml": CONFIG_MAP}
    dependencies = [{"name": "store", "version": "1"}] if "subcharts" in why else []
    if "helm" in why:
        monkeypatch.setattr(binary, "available", lambda: None)
    write_chart(tmp_path, templates=templates, dependencies=dependencies)
    found = plan(tmp_path)
    assert found.mode is NoteKind.CHECKED
    assert why in found.text
    assert found.problems({"replicaz": 1}) != []


def test_another_version_of_the_chart_is_noted(tmp_path: Path) -> None:
    write_chart(tmp_path)
    assert "(the release names 9.9.9)" in plan(tmp_path, version="9.9.9").text
    assert "the release names" not in plan(tmp_path, version="v1.2.3").text
