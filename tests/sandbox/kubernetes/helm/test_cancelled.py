"""A cancelled run: Helm does not wait to its timeout, and the next run goes on."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from sandbox.rpc import errors
from sandbox.rpc.errors import PartialFailureError, ProviderError
from tests.sandbox.kubernetes.helm.charts import CONFIG_MAP, needs_helm, write_chart
from tests.sandbox.kubernetes.hooks import RELEASE, Hooks, make_hooks
from tests.sandbox.plane import ControlPlane

pytestmark = [pytest.mark.sandbox, needs_helm]

# No controller answers on this API server: a claim stays Pending, and Helm waits for it.
CLAIM: Final = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: claim}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""
TIMEOUT: Final = 600
"""Seconds that Helm would wait."""


@pytest.fixture
def charts(tmp_path: Path) -> Path:
    return tmp_path / "charts"


@pytest.fixture
def hooks(plane: ControlPlane, tmp_path: Path, charts: Path) -> Hooks:
    return make_hooks(plane, tmp_path, charts)


def release(namespace: str, **more: Any) -> dict[str, Any]:
    chart = "oci://example.com/charts/widget"
    return {"chart": chart, "name": "one", "namespace": namespace, "timeout": TIMEOUT, **more}


def cancelled_while_waiting(client: KubeClient, namespace: str, run: Callable[[], Any]) -> ProviderError:
    """The error of a run that is cancelled once Helm has created the claim."""
    event, ended = threading.Event(), threading.Event()

    def cancel() -> None:
        while client.get(Ref("v1", "PersistentVolumeClaim", "claim", namespace)) is None and not ended.wait(0.1):
            pass
        event.set()

    watcher = threading.Thread(target=cancel)
    watcher.start()
    errors.of_call(event)
    began = time.monotonic()
    try:
        with pytest.raises(ProviderError, match="Helm was interrupted, because the operation was cancelled") as raised:
            run()
    finally:
        ended.set()
        errors.of_call(threading.Event())
        watcher.join()
    assert time.monotonic() - began < TIMEOUT / 2
    return raised.value


def test_a_cancelled_installation_is_a_failed_release_that_the_next_run_completes(
    hooks: Hooks, client: KubeClient, charts: Path, namespace: str
) -> None:
    path = write_chart(charts, templates={"config.yaml": CONFIG_MAP, "claim.yaml": CLAIM})
    checked, _ = hooks.check(RELEASE, release(namespace))
    error = cancelled_while_waiting(
        client, namespace, lambda: hooks.provider.create(hooks.session, hooks.resource(RELEASE, "it"), checked)
    )
    assert isinstance(error, PartialFailureError)
    assert error.outputs["status"]["status"] == "failed"
    (path / "templates" / "claim.yaml").unlink()
    updated = hooks.update(RELEASE, error.id, dict(error.outputs), checked, checked)
    assert updated["status"]["status"] == "deployed"


def test_a_cancelled_atomic_installation_leaves_nothing_and_the_next_run_installs(
    hooks: Hooks, client: KubeClient, charts: Path, namespace: str
) -> None:
    path = write_chart(charts, templates={"config.yaml": CONFIG_MAP, "claim.yaml": CLAIM})
    checked, _ = hooks.check(RELEASE, release(namespace, atomic=True))
    error = cancelled_while_waiting(
        client, namespace, lambda: hooks.provider.create(hooks.session, hooks.resource(RELEASE, "it"), checked)
    )
    assert not isinstance(error, PartialFailureError)
    assert client.get(Ref("v1", "ConfigMap", "one-config", namespace)) is None
    (path / "templates" / "claim.yaml").unlink()
    _, outputs, _ = hooks.create(RELEASE, release(namespace, atomic=True))
    assert outputs["status"]["status"] == "deployed"


def test_a_cancelled_atomic_upgrade_is_rolled_back_and_the_next_run_completes_it(
    hooks: Hooks, client: KubeClient, charts: Path, namespace: str
) -> None:
    path = write_chart(charts, templates={"config.yaml": CONFIG_MAP})
    wanted = {"atomic": True, "cleanupOnFail": True}
    id, outputs, inputs = hooks.create(RELEASE, release(namespace, **wanted, values={"replicas": 2}))
    news, _ = hooks.check(RELEASE, release(namespace, **wanted, values={"replicas": 3}), inputs)
    (path / "templates" / "claim.yaml").write_text(CLAIM)
    error = cancelled_while_waiting(client, namespace, lambda: hooks.update(RELEASE, id, outputs, inputs, news))
    assert isinstance(error, PartialFailureError)
    config = Ref("v1", "ConfigMap", "one-config", namespace)
    assert (client.get(config) or {})["data"]["replicas"] == "2"
    (path / "templates" / "claim.yaml").unlink()
    completed = hooks.update(RELEASE, id, dict(error.outputs), news, news)
    assert completed["status"]["status"] == "deployed"
    assert (client.get(config) or {})["data"]["replicas"] == "3"
