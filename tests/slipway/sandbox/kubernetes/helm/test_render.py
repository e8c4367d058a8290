from __future__ import annotations

from pathlib import Path

import pytest

from slipway.errors import SandboxError
from slipway.sandbox.kubernetes.helm.render import ReleaseName, available, render
from tests.slipway.sandbox.kubernetes.helm.charts import CONFIG_MAP, chart_at, write_chart

RELEASE = ReleaseName("one", "team")
ORDERED = {
    "a.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n",
    "b.yaml": "apiVersion: example.com/v1\nkind: Custom\nmetadata: {name: c}\n",
    "c.yaml": "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: s}\n",
}


@pytest.fixture(scope="module")
def helm() -> Path:
    found = available()
    if found is None:
        pytest.skip("no helm here: run `python -m slipway.toolchain ensure helm`, or `make setup`")
    return found


def test_objects_are_in_helms_installation_order(helm: Path, tmp_path: Path) -> None:
    chart = chart_at(write_chart(tmp_path, templates=ORDERED))
    assert [obj["kind"] for obj in render(helm, chart, RELEASE, {}, [])] == ["ServiceAccount", "Deployment", "Custom"]


def test_templates_see_the_values_and_the_release(helm: Path, tmp_path: Path) -> None:
    chart = chart_at(write_chart(tmp_path, templates={"cm.yaml": CONFIG_MAP}))
    (found,) = render(helm, chart, RELEASE, {"replicas": 7}, [])
    assert (found["metadata"]["name"], found["data"]["replicas"]) == ("one-config", "7")


def test_templates_see_the_apis_that_the_cluster_serves(helm: Path, tmp_path: Path) -> None:
    template = '{{ if .Capabilities.APIVersions.Has "acme.io/v1/Widget" }}{kind: A, metadata: {name: a}}{{ end }}'
    chart = chart_at(write_chart(tmp_path, templates={"a.yaml": template}))
    assert render(helm, chart, RELEASE, {}, []) == []
    assert len(render(helm, chart, RELEASE, {}, ["acme.io/v1", "acme.io/v1/Widget"])) == 1


def test_hooks_are_left_out(helm: Path, tmp_path: Path) -> None:
    hook = 'apiVersion: v1\nkind: Pod\nmetadata: {name: h, annotations: {"helm.sh/hook": pre-install}}\n'
    chart = chart_at(write_chart(tmp_path, templates={"h.yaml": hook}))
    assert render(helm, chart, RELEASE, {}, []) == []


def test_a_changed_chart_is_rendered_again(helm: Path, tmp_path: Path) -> None:
    path = write_chart(tmp_path, templates={"cm.yaml": CONFIG_MAP})
    chart = chart_at(path)
    assert render(helm, chart, RELEASE, {}, [])[0]["kind"] == "ConfigMap"
    (path / "templates" / "cm.yaml").write_text(CONFIG_MAP.replace("ConfigMap", "Secret").replace("data", "stringData"))
    assert render(helm, chart, RELEASE, {}, [])[0]["kind"] == "Secret"


def test_an_error_of_helm_is_passed_on(helm: Path, tmp_path: Path) -> None:
    template = '{{ required "a name is needed" .Values.name }}'
    chart = chart_at(write_chart(tmp_path, templates={"a.yaml": template}))
    with pytest.raises(SandboxError, match=r"chart widget can't be rendered.*a name is needed"):
        render(helm, chart, RELEASE, {}, [])
