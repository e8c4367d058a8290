"""Releases whose chart comes, grows, changes or goes after they were made."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes import waiting
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.helm import binary
from sandbox.kubernetes.objects import Ref
from sandbox.rpc.diff import Diff
from sandbox.rpc.errors import ProviderError
from tests.sandbox.kubernetes.helm.charts import CONFIG_MAP, needs_helm, write_chart
from tests.sandbox.kubernetes.hooks import RELEASE, Hooks, make_hooks
from tests.sandbox.plane import ControlPlane, crd

pytestmark = [pytest.mark.sandbox, needs_helm]

TEMPLATES = {"config.yaml": CONFIG_MAP}


@pytest.fixture
def charts(tmp_path: Path) -> Path:
    return tmp_path / "charts"


@pytest.fixture
def hooks(plane: ControlPlane, tmp_path: Path, charts: Path) -> Hooks:
    return make_hooks(plane, tmp_path, charts)


def release(namespace: str, **values: Any) -> dict[str, Any]:
    return {"chart": "widget", "name": "one", "namespace": namespace, "values": values}


def difference(hooks: Hooks, inputs: dict[str, Any], outputs: dict[str, Any], news: dict[str, Any]) -> Diff:
    return hooks.provider.diff(hooks.session, hooks.resource(RELEASE, "it"), "id", inputs, outputs, news)


def again(hooks: Hooks, inputs: dict[str, Any], outputs: dict[str, Any]) -> bool:
    """Whether the next run updates the unchanged release, in place."""
    changes = difference(hooks, inputs, outputs, inputs).changes
    assert not any(change.replace or change.input for change in changes)
    return bool(changes)


def test_a_recorded_release_is_installed_once_its_chart_is_there(
    hooks: Hooks, client: KubeClient, charts: Path, namespace: str
) -> None:
    id, outputs, inputs = hooks.create(RELEASE, release(namespace))
    assert not again(hooks, inputs, outputs)
    write_chart(charts)
    assert again(hooks, inputs, outputs)
    outputs = hooks.update(RELEASE, id, outputs, inputs, inputs)
    assert outputs["slipway"]["mode"] == "checked"
    assert not again(hooks, inputs, outputs)
    shutil.rmtree(charts)
    write_chart(charts, templates=TEMPLATES)
    assert again(hooks, inputs, outputs)
    hooks.check(RELEASE, inputs, inputs)
    assert list(hooks.noted()) == ["checked"], "a preview installs nothing"
    outputs = hooks.update(RELEASE, id, outputs, inputs, inputs)
    assert list(hooks.noted()) == ["installed"]
    assert not again(hooks, inputs, outputs)
    assert client.get(Ref("v1", "ConfigMap", "one-config", namespace)) is not None
    hooks.delete(RELEASE, id, outputs, inputs)


def test_a_checked_release_is_installed_once_helm_is_there(
    hooks: Hooks, charts: Path, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_chart(charts, templates=TEMPLATES)
    with monkeypatch.context() as without:
        without.setattr(binary, "available", lambda: None)
        _, outputs, inputs = hooks.create(RELEASE, release(namespace))
        assert not again(hooks, inputs, outputs)
    assert again(hooks, inputs, outputs)


def test_another_version_of_the_chart_is_an_upgrade(hooks: Hooks, charts: Path, namespace: str) -> None:
    write_chart(charts, templates=TEMPLATES)
    id, outputs, inputs = hooks.create(RELEASE, release(namespace))
    shutil.rmtree(charts)
    write_chart(charts, templates=TEMPLATES, version="2.0.0")
    assert again(hooks, inputs, outputs)
    outputs = hooks.update(RELEASE, id, outputs, inputs, inputs)
    assert outputs["status"]["revision"] == 2
    assert not again(hooks, inputs, outputs)
    hooks.delete(RELEASE, id, outputs, inputs)


def test_an_installed_release_whose_chart_is_gone_stays_and_is_not_changed(
    hooks: Hooks, client: KubeClient, charts: Path, namespace: str
) -> None:
    write_chart(charts, templates=TEMPLATES)
    id, outputs, inputs = hooks.create(RELEASE, release(namespace))
    shutil.rmtree(charts)
    assert not again(hooks, inputs, outputs)
    hooks.check(RELEASE, inputs, inputs)
    assert list(hooks.noted()) == ["installed"]
    news, _ = hooks.check(RELEASE, release(namespace, replicas=3), inputs)
    refusal = f"release {namespace}/one is installed, and can't be upgraded: chart widget is not in SLIPWAY_CHARTS"
    with pytest.raises(ProviderError, match=refusal):
        difference(hooks, inputs, outputs, news)
    hooks.delete(RELEASE, id, outputs, inputs)
    assert client.get(Ref("v1", "ConfigMap", "one-config", namespace)) is None


def test_an_imported_release_is_not_upgraded_for_its_chart(hooks: Hooks, charts: Path, namespace: str) -> None:
    write_chart(charts, templates=TEMPLATES)
    id, outputs, inputs = hooks.create(RELEASE, release(namespace))
    imported = hooks.read(RELEASE, id, {}, {})
    assert imported is not None
    assert not again(hooks, dict(imported.inputs), dict(imported.outputs))
    hooks.delete(RELEASE, id, outputs, inputs)


def test_what_a_stand_in_accepted_counts_as_checked_once_the_chart_brings_the_crd(
    hooks: Hooks, client: KubeClient, charts: Path, namespace: str
) -> None:
    id, outputs, inputs = hooks.create(RELEASE, release(namespace))
    gauge = {"apiVersion": "helm.test/v1", "kind": "Gauge", "metadata": {"name": "one"}, "spec": {"level": 1}}
    gauge_id, gauge_outputs, gauge_inputs = hooks.create("kubernetes:helm.test/v1:Gauge", gauge, "gauge")
    assert list(hooks.noted("gauge")) == ["stand-in"]
    definition = crd("helm.test", "Gauge", {"level": {"type": "integer"}})
    write_chart(charts, templates=TEMPLATES, definitions=[definition])
    outputs = hooks.update(RELEASE, id, outputs, inputs, inputs)
    assert hooks.noted("gauge") == {}
    hooks.delete("kubernetes:helm.test/v1:Gauge", gauge_id, gauge_outputs, gauge_inputs, "gauge")
    hooks.delete(RELEASE, id, outputs, inputs)
    waiting.delete(client, Ref.of(definition))
