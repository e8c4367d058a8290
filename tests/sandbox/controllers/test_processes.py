"""What a controller's process gets, how it is built, and what is reported of it."""

import copy
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.kubernetes.controllers.launch import (
    Launch,
    Mount,
    arguments,
    configuration_path,
    configured,
    of_deployment,
)
from sandbox.kubernetes.controllers.running import FILE, Builds, Entry, Report, State, load
from sandbox.kubernetes.controllers.table import BY_NAME, CERTIFICATES, Controller, of_image
from sandbox.kubernetes.waiting import until
from tests.sandbox.controllers.fake import gadget
from tests.support.patience import SECONDS

REAL = sys.executable
VALUES = {"health": 1001, "webhook": 1002, "root": "/box/root", "namespace": "queues", "kubeconfig": "/box/kubeconfig"}
DEPLOYMENT: dict[str, Any] = {
    "metadata": {"name": "kueue-controller-manager", "namespace": "queues"},
    "spec": {"replicas": 2, "template": {"metadata": {"labels": {"app": "kueue", "tier": "one"}}, "spec": {
                "serviceAccountName": "kueue-account", "containers": [
                    {"name": "proxy", "image": "quay.io/brancz/kube-rbac-proxy:v0.18.0"}, {"name": "manager",
                        "image": "registry.example.com/mirror/kueue/kueue:v0.19.2",
                        "args": ["--config=/controller.yaml", "--zap-log-level=2"], "env": [
                            {"name": "PLAIN", "value": "x"},
                            {"name": "WHERE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
                            {"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
                        "ports": [{"name": "webhook-server", "containerPort": 9443}, {"containerPort": 1}],
                        "volumeMounts": [{"name": "cert", "mountPath": f"/{CERTIFICATES}"},
                            {"name": "config", "mountPath": "/controller.yaml", "subPath": "controller.yaml"},
                            {"name": "scratch", "mountPath": "/scratch"}]}], "volumes": [
                    {"name": "cert", "secret": {"secretName": "webhook-cert"}},
                    {"name": "config", "configMap": {"name": "manager-config"}},
                    {"name": "scratch", "emptyDir": {}}]}}},
}  # fmt: skip


@pytest.fixture
def launch() -> Launch:
    found = of_deployment(DEPLOYMENT)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "image",
    [
        "registry.k8s.io/kueue/kueue:v0.19.2",
        "111122223333.dkr.ecr.us-east-1.amazonaws.com/k8s/kueue/kueue:v0.19.2",
        "localhost:5000/kueue/kueue",
        "kueue/kueue@sha256:abc",
        "registry.k8s.io/kueue/kueue:v0.19.2@sha256:abc",
    ],
)
def test_a_controller_is_known_by_the_end_of_its_images_repository(image: str) -> None:
    assert of_image(image) is BY_NAME["kueue"]


@pytest.mark.parametrize("image", ["registry.k8s.io/kueue/kueueviz:v1", "other-kueue/kueue:v1", "", "kueue"])
def test_other_images_are_not_controllers(image: str) -> None:
    assert of_image(image) is None


def test_a_deployment_says_how_its_controller_runs(launch: Launch) -> None:
    assert launch.controller is BY_NAME["kueue"]
    assert (launch.namespace, launch.deployment, launch.account) == (
        "queues",
        DEPLOYMENT["metadata"]["name"],
        "kueue-account",
    )
    assert dict(launch.environment) == {"PLAIN": "x", "WHERE": "queues"}
    assert launch.mounts == (
        Mount("Secret", "webhook-cert", f"/{CERTIFICATES}"),
        Mount("ConfigMap", "manager-config", "/controller.yaml", "controller.yaml"),
    )
    assert launch.port("webhook-server") == launch.port(9443) == 9443
    assert launch.port("unknown") is None


def test_a_service_selects_the_controller_by_the_labels_of_its_pods(launch: Launch) -> None:
    assert launch.selected({"app": "kueue"})
    assert not launch.selected({"app": "kueue", "tier": "two"})
    assert not launch.selected({})
    assert not launch.selected(None)


@pytest.mark.parametrize("change", [{"replicas": 0}, {"template": {"spec": {"containers": [{"image": "nginx"}]}}}])
def test_nothing_runs_for_a_deployment_without_pods_or_of_something_else(change: dict[str, Any]) -> None:
    assert of_deployment({**DEPLOYMENT, "spec": {**DEPLOYMENT["spec"], **change}}) is None


def test_nothing_runs_for_a_deployment_that_is_being_deleted() -> None:
    metadata = {**DEPLOYMENT["metadata"], "deletionTimestamp": "2026-11-22T12:00:00Z"}
    assert of_deployment({**DEPLOYMENT, "metadata": metadata}) is None


def test_a_launch_changes_with_the_pod_template_and_not_with_its_status(launch: Launch) -> None:
    status = {**DEPLOYMENT, "status": {"readyReplicas": 2}}
    assert of_deployment(status) == launch
    changed = copy.deepcopy(DEPLOYMENT)
    changed["spec"]["template"]["spec"]["containers"][1]["args"][1] = "--zap-log-level=5"
    assert of_deployment(changed) != launch


def test_a_launch_changes_with_the_checksum_of_its_configuration(launch: Launch) -> None:
    """Kueue reads the kinds that it queues when it starts: its chart annotates the pods with the checksum of them."""
    changed = copy.deepcopy(DEPLOYMENT)
    changed["spec"]["template"]["metadata"]["annotations"] = {"charts.kueue.x-k8s.io/config-checksum": "b5cf257a"}
    assert of_deployment(changed) != launch


def test_arguments_name_the_local_files(launch: Launch) -> None:
    assert arguments(launch, VALUES) == ["--config=/box/root/controller.yaml", "--zap-log-level=2"]
    assert configuration_path(launch) == "/controller.yaml"


@pytest.mark.parametrize("theirs", [("--health", ":8080"), ("--health=:8080",), ("-health", ":8080")], ids=" ".join)
def test_a_flag_of_the_row_replaces_the_charts_with_its_value(launch: Launch, theirs: tuple[str, ...]) -> None:
    """Go's parser ends at the first argument that is no flag, such as a value that was left over."""
    row = replace(launch.controller, flags=("--health=127.0.0.1:{health}",))
    changed = replace(launch, controller=row, arguments=("--v", "4", *theirs, "--zap-log-level=2"))
    assert arguments(changed, {**VALUES, "health": 7}) == ["--v", "4", "--zap-log-level=2", "--health=127.0.0.1:7"]


def test_the_configuration_is_the_charts_with_the_fields_of_the_row() -> None:
    text = yaml.safe_dump(
        {
            "webhook": {"port": 9443},
            "leaderElection": {"leaderElect": True, "resourceName": "kept"},
            "integrations": {"frameworks": ["batch/job"]},
        }
    )
    made = yaml.safe_load(configured(text, BY_NAME["kueue"], VALUES))
    assert made["webhook"] == {
        "host": "127.0.0.1",
        "port": 1002,
        "certDir": "/box/root/tmp/k8s-webhook-server/serving-certs",
    }
    assert made["leaderElection"] == {"leaderElect": False, "resourceName": "kept"}
    assert made["integrations"] == {"frameworks": ["batch/job"]}
    assert made["health"] == {"healthProbeBindAddress": "127.0.0.1:1001"}
    assert made["namespace"] == "queues"


ENTRY = Entry("api-1", "kueue", "0.19.2", State.FAILING, "it ended with exit code 1", "/logs/kueue.log")


def test_entries_are_read_by_another_process(tmp_path: Path) -> None:
    report = Report(tmp_path)
    assert load(tmp_path) == ()
    report.set(ENTRY)
    report.set(Entry("api-1", "jobset", "0.12.0", State.RUNNING))
    assert [each.name for each in load(tmp_path)] == ["jobset", "kueue"]
    assert load(tmp_path)[1] == report.get("api-1", "kueue") == ENTRY
    report.clear("api-1", "kueue")
    assert [each.name for each in load(tmp_path)] == ["jobset"]


def test_a_file_that_is_not_a_list_of_entries_has_none(tmp_path: Path) -> None:
    for text in ("", "{", '[{"slot": "api-1"}]', '[{"state": "unknown"}]'):
        (tmp_path / FILE).write_text(text)
        assert load(tmp_path) == ()


def ended(builds: Builds, *rows: Controller) -> bool:
    """Whether nothing is built any more, after one look of those that wait."""
    for row in rows:
        builds.want(row)
    return not builds.present


def test_a_build_that_fails_gives_its_reason_and_the_command_that_builds_it(tmp_path: Path) -> None:
    """The toolchain has no tool of this name."""
    builds, row = Builds(tmp_path), gadget(tmp_path)
    until(lambda: ended(builds, row) or None, SECONDS, "it goes on")
    assert "argument NAME: invalid choice: 'gadget'" in builds.want(row)
    assert builds.want(row).endswith("`python -m sandbox.toolchain ensure gadget` builds it")
    # Not again in the same sandbox.
    before = builds.log("gadget").stat().st_mtime_ns
    assert ended(builds, row)
    assert builds.log("gadget").stat().st_mtime_ns == before


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file to which each build adds its tool. One goes on until it is asked to end, or the folder has `go`."""
    script = tmp_path / "builder"
    script.write_text(
        f"#!/bin/sh\necho $4 >> {tmp_path}/begun\n"
        f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done\ntouch {tmp_path}/$4\n"
    )
    script.chmod(0o700)
    monkeypatch.setattr("sandbox.kubernetes.controllers.running.sys.executable", str(script))
    return tmp_path / "begun"


def test_what_most_jobs_wait_for_is_built_first_and_others_make_way(begun: Path, tmp_path: Path) -> None:
    builds = Builds(tmp_path / "logs")
    kueue, trainer, karpenter = (
        replace(gadget(tmp_path), name=name, path=tmp_path / name) for name in ("kueue", "trainer", "karpenter")
    )
    builds.want(karpenter)
    until(lambda: begun.exists() or None, SECONDS, "nothing is built")
    until(lambda: not ended(builds, kueue, trainer) and "kueue" in begun.read_text(), SECONDS, "Karpenter goes on")
    (tmp_path / "go").touch()
    until(lambda: ended(builds, karpenter, trainer, kueue) or None, SECONDS, "it goes on")
    assert begun.read_text().split() == ["karpenter", "kueue", "trainer", "karpenter"]
    assert [builds.want(each) for each in (kueue, trainer, karpenter)] == [""] * 3


def test_a_build_outlives_its_sandbox(begun: Path, tmp_path: Path) -> None:
    """The whole session of the sandbox may be ended: the build is in another one."""
    source = (
        "from pathlib import Path; from sandbox.kubernetes.controllers import running; import sys\n"
        "from tests.sandbox.controllers.fake import gadget\n"
        f"running.sys.executable = {str(tmp_path / 'builder')!r}\n"
        f"running.Builds(Path({str(tmp_path)!r})).want(gadget(Path({str(tmp_path / 'none')!r})))\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen([REAL, "-c", source], stdin=subprocess.PIPE, start_new_session=True) as sandbox:
        until(lambda: begun.exists() or sandbox.poll(), SECONDS, "nothing is built")
        os.killpg(sandbox.pid, signal.SIGKILL)
    assert not (tmp_path / "gadget").exists()
    (tmp_path / "go").touch()
    until(lambda: (tmp_path / "gadget").exists() or None, SECONDS, "it ended with the sandbox")


def test_what_is_built_is_not_built_again(tmp_path: Path) -> None:
    builds, row = Builds(tmp_path), gadget(tmp_path)
    row.build()
    assert ended(builds, row)
    assert not builds.log("gadget").exists()
    assert builds.want(row) == ""
