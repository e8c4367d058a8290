"""Releases that fail: what remains, what is reported, and how the next run goes on."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from sandbox.rpc.errors import PartialFailureError, ProviderError
from tests.sandbox.kubernetes.helm.charts import CONFIG_MAP, needs_helm, write_chart
from tests.sandbox.kubernetes.hooks import RELEASE, Hooks, make_hooks
from tests.sandbox.plane import ControlPlane

pytestmark = [pytest.mark.sandbox, needs_helm]

TEMPLATES = {"config.yaml": CONFIG_MAP}
SECOND = "apiVersion: v1\nkind: Secret\nmetadata: {name: second}\n"
REFUSED = "apiVersion: v1\nkind: Service\nmetadata: {name: refused}\nspec: {ports: [{port: 99999}]}\n"


@pytest.fixture
def charts(tmp_path: Path) -> Path:
    return tmp_path / "charts"


@pytest.fixture
def hooks(plane: ControlPlane, tmp_path: Path, charts: Path) -> Hooks:
    return make_hooks(plane, tmp_path, charts)


def release(namespace: str, **more: Any) -> dict[str, Any]:
    return {"chart": "oci://example.com/charts/widget", "name": "one", "namespace": namespace, **more}


def test_a_failed_release_is_in_the_state_and_recovers(
    hooks: Hooks, client: KubeClient, charts: Path, namespace: str
) -> None:
    path = write_chart(charts, templates=TEMPLATES)
    checked, _ = hooks.check(RELEASE, release(namespace))
    (path / "templates" / "refused.yaml").write_text(REFUSED)
    with pytest.raises(PartialFailureError, match=r'Service "refused" is invalid') as failed:
        hooks.provider.create(hooks.session, hooks.resource(RELEASE, "it"), checked)
    outputs = dict(failed.value.outputs)
    assert outputs["status"]["status"] == "failed"
    (path / "templates" / "refused.yaml").write_text(REFUSED.replace("99999", "80"))
    updated = hooks.update(RELEASE, failed.value.id, outputs, checked, checked)
    assert updated["status"]["status"] == "deployed"
    hooks.delete(RELEASE, failed.value.id, updated, checked)
    assert client.get(Ref("v1", "Service", "refused", namespace)) is None


def test_a_failed_atomic_release_leaves_nothing(hooks: Hooks, client: KubeClient, charts: Path, namespace: str) -> None:
    path = write_chart(charts, templates=TEMPLATES)
    checked, _ = hooks.check(RELEASE, release(namespace, atomic=True))
    (path / "templates" / "refused.yaml").write_text(REFUSED)
    with pytest.raises(ProviderError, match="uninstalled due to atomic being set") as failed:
        hooks.provider.create(hooks.session, hooks.resource(RELEASE, "it"), checked)
    assert not isinstance(failed.value, PartialFailureError)
    assert client.get(Ref("v1", "ConfigMap", "one-config", namespace)) is None


def test_a_failed_atomic_upgrade_is_rolled_back_completed_by_the_next_and_destroyed_completely(
    hooks: Hooks, client: KubeClient, charts: Path, namespace: str
) -> None:
    """A release like the platform's: installed, upgraded, failed, completed, removed."""
    path = write_chart(charts, templates={**TEMPLATES, "second.yaml": SECOND})
    config, second = Ref("v1", "ConfigMap", "one-config", namespace), Ref("v1", "Secret", "second", namespace)
    added, refused = Ref("v1", "Secret", "added", namespace), Ref("v1", "Service", "refused", namespace)
    wanted = {"atomic": True, "cleanupOnFail": True}
    id, outputs, inputs = hooks.create(RELEASE, release(namespace, **wanted, values={"replicas": 2}))

    news, reasons = hooks.check(RELEASE, release(namespace, **wanted, values={"replicas": 3}), inputs)
    assert reasons == []
    (path / "templates" / "second.yaml").unlink()
    (path / "templates" / "added.yaml").write_text(SECOND.replace("second", "added"))
    (path / "templates" / "refused.yaml").write_text(REFUSED)
    with pytest.raises(PartialFailureError, match="rolled back due to atomic being set") as failed:
        hooks.update(RELEASE, id, outputs, inputs, news)
    assert client.get(second) is not None
    assert client.get(added) is None
    assert (client.get(config) or {})["data"]["replicas"] == "2"

    (path / "templates" / "refused.yaml").write_text(REFUSED.replace("99999", "80"))
    completed = hooks.update(RELEASE, id, dict(failed.value.outputs), news, news)
    assert completed["status"]["status"] == "deployed"
    assert (client.get(config) or {})["data"]["replicas"] == "3"
    assert client.get(second) is None

    hooks.delete(RELEASE, id, completed, news)
    assert [ref for ref in (config, second, added, refused) if client.get(ref) is not None] == []


def test_a_release_that_was_killed_while_helm_worked_says_how_to_go_on(
    hooks: Hooks, client: KubeClient, charts: Path, namespace: str
) -> None:
    write_chart(charts, templates=TEMPLATES)
    id, outputs, inputs = hooks.create(RELEASE, release(namespace))
    secret = client.get(Ref("v1", "Secret", "sh.helm.release.v1.one.v1", namespace))
    assert secret is not None
    content = json.loads(gzip.decompress(base64.b64decode(base64.b64decode(secret["data"]["release"]))))
    content["info"]["status"] = "pending-install"
    packed = base64.b64encode(base64.b64encode(gzip.compress(json.dumps(content).encode()))).decode()
    change = {"metadata": {"labels": {"status": "pending-install"}}, "data": {"release": packed}}
    client.merge(Ref.of(secret), change)
    with pytest.raises(ProviderError, match=r"another operation .* is in progress.*helm uninstall one -n "):
        hooks.update(RELEASE, id, outputs, inputs, inputs)


def test_a_release_that_pulumi_does_not_know_says_how_to_go_on(hooks: Hooks, charts: Path, namespace: str) -> None:
    """As after a run that was killed while Helm went on."""
    write_chart(charts, templates=TEMPLATES)
    id, outputs, inputs = hooks.create(RELEASE, release(namespace))
    with pytest.raises(ProviderError, match=rf"cannot re-use a name .*import it with the ID {namespace}/one"):
        hooks.provider.create(hooks.session, hooks.resource(RELEASE, "it"), inputs)
    hooks.delete(RELEASE, id, outputs, inputs)
