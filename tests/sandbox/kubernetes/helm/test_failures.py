"""Releases that fail: what remains, what is reported, and how the next run goes on."""

import base64
import gzip
import json
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from sandbox import errors
from sandbox.kubernetes import waiting
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.helm import binary
from sandbox.kubernetes.helm.binary import HelmError
from sandbox.kubernetes.objects import Ref
from sandbox.rpc.diff import Diff
from sandbox.rpc.errors import PartialFailureError, ProviderError
from tests.sandbox.kubernetes.helm.charts import (
    CONFIG_MAP,
    REFUSED,
    SECOND,
    TEMPLATES,
    needs_helm,
    release,
    write_chart,
)
from tests.sandbox.kubernetes.hooks import RELEASE, Hooks
from tests.sandbox.plane import crd, existing

pytestmark = [pytest.mark.sandbox, needs_helm]


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


LATE: Final = "Timeout: request did not complete within requested timeout"


def test_what_a_busy_server_did_not_get_to_is_repeated(
    hooks: Hooks, client: KubeClient, charts: Path, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_chart(charts, templates=TEMPLATES)
    run, tries = binary.run, []

    def busy(helm: Path, client: KubeClient, arguments: list[str], **more: Any) -> binary.Done:
        tries.append(arguments[0])
        done = run(helm, client, arguments, **more)
        if tries.count(arguments[0]) == 1:
            raise HelmError(LATE)
        return done

    monkeypatch.setattr(binary, "run", busy)
    monkeypatch.setattr("sandbox.kubernetes.client.PAUSE_SECONDS", 0.0)
    id, outputs, inputs = hooks.create(RELEASE, release(namespace))
    assert tries == ["install", "uninstall", "uninstall", "install"]
    assert outputs["status"]["status"] == "deployed"
    hooks.delete(RELEASE, id, outputs, inputs)


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
    secret = existing(client, Ref("v1", "Secret", "sh.helm.release.v1.one.v1", namespace))
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


# A cancelled run: Helm does not wait to its timeout, and the next run goes on.


# No controller answers on this API server: a claim stays Pending, and Helm waits for it.
CLAIM: Final = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: claim}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""
TIMEOUT: Final = 600
"""Seconds that Helm would wait."""


def waiting_release(namespace: str, **more: Any) -> dict[str, Any]:
    return release(namespace, timeout=TIMEOUT, **more)


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
    checked, _ = hooks.check(RELEASE, waiting_release(namespace))
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
    checked, _ = hooks.check(RELEASE, waiting_release(namespace, atomic=True))
    error = cancelled_while_waiting(
        client, namespace, lambda: hooks.provider.create(hooks.session, hooks.resource(RELEASE, "it"), checked)
    )
    assert not isinstance(error, PartialFailureError)
    assert client.get(Ref("v1", "ConfigMap", "one-config", namespace)) is None
    (path / "templates" / "claim.yaml").unlink()
    _, outputs, _ = hooks.create(RELEASE, waiting_release(namespace, atomic=True))
    assert outputs["status"]["status"] == "deployed"


def test_a_cancelled_atomic_upgrade_is_rolled_back_and_the_next_run_completes_it(
    hooks: Hooks, client: KubeClient, charts: Path, namespace: str
) -> None:
    path = write_chart(charts, templates={"config.yaml": CONFIG_MAP})
    wanted = {"atomic": True, "cleanupOnFail": True}
    id, outputs, inputs = hooks.create(RELEASE, waiting_release(namespace, **wanted, values={"replicas": 2}))
    news, _ = hooks.check(RELEASE, waiting_release(namespace, **wanted, values={"replicas": 3}), inputs)
    (path / "templates" / "claim.yaml").write_text(CLAIM)
    error = cancelled_while_waiting(client, namespace, lambda: hooks.update(RELEASE, id, outputs, inputs, news))
    assert isinstance(error, PartialFailureError)
    config = Ref("v1", "ConfigMap", "one-config", namespace)
    assert (client.get(config) or {})["data"]["replicas"] == "2"
    (path / "templates" / "claim.yaml").unlink()
    completed = hooks.update(RELEASE, id, dict(error.outputs), news, news)
    assert completed["status"]["status"] == "deployed"
    assert (client.get(config) or {})["data"]["replicas"] == "3"


# Releases whose chart comes, grows, changes or goes after they were made.


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
    news, _ = hooks.check(RELEASE, release(namespace, values={"replicas": 3}), inputs)
    refusal = (
        f"release {namespace}/one is installed, and can't be upgraded:"
        " chart oci://example.com/charts/widget is not in SLIPWAY_CHARTS"
    )
    with pytest.raises(ProviderError, match=refusal):
        difference(hooks, inputs, outputs, news)
    hooks.delete(RELEASE, id, outputs, inputs)
    assert client.get(Ref("v1", "ConfigMap", "one-config", namespace)) is None


def test_an_imported_release_is_not_upgraded_for_its_chart(hooks: Hooks, charts: Path, namespace: str) -> None:
    write_chart(charts, templates=TEMPLATES)
    id, outputs, inputs = hooks.create(RELEASE, release(namespace))
    imported = hooks.found(RELEASE, id, {}, {})
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
