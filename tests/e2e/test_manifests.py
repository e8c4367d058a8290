"""Manifests in a sandbox whose controllers run: quickstarts from their pages, `slipway rehearse`, and `slipway why`.

And the rows of the table of workloads (test_workloads.py) that need no other controller, once.
"""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from sandbox import toolchain
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from tests.e2e import quickstart
from tests.e2e.quickstart import Member
from tests.e2e.workloads.rows import DEV
from tests.e2e.workloads.waves import targets, waves
from tests.e2e.world import REPOSITORY, World, some_charts
from tests.slipway.quickstarts.pages import PAGES

pytestmark = pytest.mark.sandbox

CHARTS: Final = ("kueue", "jobset", "kubeflow-trainer", "kserve-crd", "kserve-resources", "karpenter", "karpenter-crd")
CONTROLLERS: Final = ("kueue", "jobset", "trainer", "kserve", "karpenter")
MANIFESTS: Final = REPOSITORY / "examples" / "manifests"
LIVES: Final = ("job", "jobset", "trainjob-1")
"""Rows of the table that run here, on three pools; the whole table takes minutes."""
LAYERS: Final = {
    "job/right": "accepted",
    "job/no-toleration": "admission",
    "job/no-queue": "queue",
    "job/beyond-quota": "quota",
    "job/beyond-node": "admission",
    "job/wrong-claim": "volume",
    "job/wrong-priority": "admission",
    "job/no-deadline": "admission",
}


@pytest.fixture(scope="module")
def queued(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Stack dev with the charts whose controllers run workloads, and no others."""
    if missing := [name for name in CONTROLLERS if toolchain.find(name) is None]:
        pytest.skip(f"no {', '.join(missing)} here: run `python -m sandbox.toolchain ensure {' '.join(missing)}`")
    directory = tmp_path_factory.mktemp("manifests")
    world = World.make(directory, some_charts(shared, CHARTS, directory / "charts"))
    try:
        world.succeed("up", "dev", "--sandbox")
        yield world
    finally:
        world.run("sandbox", "stop")


@pytest.fixture(scope="module")
def client(queued: World) -> KubeClient:
    """The API server of that stack."""
    if shutil.which("kubectl") is None:
        pytest.skip("no kubectl on PATH: install it, the pages of the quickstarts use it")
    return queued.api("dev")


@pytest.mark.parametrize("name", PAGES)
def test_a_quickstart_runs_from_its_page_as_a_member_of_the_team(
    queued: World, client: KubeClient, tmp_path: Path, name: str
) -> None:
    page = PAGES[name]
    member = Member(queued, tmp_path / "member", page.team)
    file = tmp_path / "member" / f"{name}.yaml"
    with_checkout, *without = quickstart.commands(page)
    output = member.shell(with_checkout)
    written = file.read_text(encoding="utf-8")
    objects = list(yaml.safe_load_all(written))
    assert output.count("serverside-applied") == len(objects)
    assert "BUCKET" not in written
    (workload,) = [one for one in objects if one["kind"] in quickstart.DONE]
    pods = quickstart.finish(client, workload)
    served = workload["kind"] == "InferenceService"
    assert {pod["status"]["phase"] for pod in pods} == {"Running" if served else "Succeeded"}
    assert "Admitted" in quickstart.queued(client, workload)
    nodes = {pod["spec"]["nodeName"]: client.get(Ref("v1", "Node", pod["spec"]["nodeName"])) for pod in pods}
    assert len(nodes) == (2 if name == "two-nodes" else 1)
    assert all(node and "karpenter.sh/nodepool" in node["metadata"]["labels"] for node in nodes.values())
    for script in quickstart.removal(page):
        assert "deleted" in member.shell(script)
    # Without a checkout: the YAML of the page, and the commands that fill in the bucket.
    file.write_text(quickstart.yaml_of(page), encoding="utf-8")
    for script in without:
        assert "serverside-applied" in member.shell(script)
    bucket = next(iter(re.findall(r"s3://([a-z0-9-]+)/", written)), "BUCKET")
    assert file.read_text(encoding="utf-8").replace("s3://BUCKET/", f"s3://{bucket}/") == written
    member.shell(f"kubectl delete --ignore-not-found --wait=false -f {name}.yaml")


def test_a_kept_server_is_served_by_kserve(queued: World, client: KubeClient, tmp_path: Path) -> None:
    page = PAGES["vllm"]
    member = Member(queued, tmp_path / "member", page.team)
    section = page.path.read_text(encoding="utf-8").partition("\n## How long it runs\n")[2]
    write, apply = re.findall(r"^((?:slipway quickstart|kubectl apply) .*)$", section, re.M)
    assert "a month if left on" in member.shell(write)
    assert "serverside-applied" in member.shell(apply)
    written = (tmp_path / "member" / "vllm.yaml").read_text(encoding="utf-8")
    assert "BUCKET" not in written
    (service,) = yaml.safe_load_all(written)
    pods = quickstart.finish(client, service)
    assert {pod["status"]["phase"] for pod in pods} == {"Running"}
    assert "Admitted" in quickstart.queued(client, service)
    member.shell("kubectl delete --wait=false -f vllm.yaml")


def test_a_server_ends_by_itself_and_its_node_goes(queued: World, client: KubeClient, tmp_path: Path) -> None:
    member = Member(queued, tmp_path / "member", PAGES["vllm"].team)
    member.shell("slipway quickstart vllm --stack dev --team vision --name short --ttl 10m > short.yaml")
    objects = list(yaml.safe_load_all((tmp_path / "member" / "short.yaml").read_text(encoding="utf-8")))
    job = objects[-1]
    # A server does not end of its own accord, and nobody has ten minutes until its node counts as idle.
    job["spec"]["template"]["metadata"].setdefault("annotations", {})["sandbox.slipway/duration"] = "1h"
    pool = Ref("karpenter.sh/v1", "NodePool", "gpu-spot")
    client.apply({**pool.as_object(), "spec": {"disruption": {"consolidateAfter": "5s"}}}, "test", force=True)
    (tmp_path / "member" / "short.yaml").write_text(yaml.safe_dump_all(objects), encoding="utf-8")
    member.shell("kubectl apply --server-side -f short.yaml")
    (pod,) = quickstart.running(client, job)
    # Its ten minutes are over once it runs: on a busy machine, fewer would be over before it has its node.
    assert job["spec"]["activeDeadlineSeconds"] == 600
    client.merge(quickstart.ref(job), {"spec": {"activeDeadlineSeconds": 1}})
    quickstart.gone(client, Ref.of(pod), Ref("v1", "Node", pod["spec"]["nodeName"]))
    assert "Failed" in quickstart.conditions(client.get(quickstart.ref(job)) or {})
    member.shell("kubectl delete --wait=false -f short.yaml")


def test_jobs_are_preempted_resume_lose_their_node_and_end(queued: World, client: KubeClient) -> None:
    rows = [row for row in DEV if row.name in LIVES]
    lives = waves(client, targets("dev", queued.checkout / "stacks", rows), rows)
    assert [life.text() for life in lives if life.failed] == []
    assert {*map(tuple, (life.done for life in lives))} == {
        ("runs", "preempted", "resumed", "without its node", "ended")
    }


def test_every_expectation_of_the_example_is_met(queued: World) -> None:
    output = queued.succeed("rehearse", "dev", str(MANIFESTS))
    assert "11 passed, 0 failed" in output


def test_before_submission_each_wrong_manifest_names_its_layer(queued: World) -> None:
    found: list[Any] = []
    for name in ("right", "wrong"):
        done = queued.run(
            "why", str(MANIFESTS / f"{name}.yaml"), "-n", "vision", "--stack", "dev", "--sandbox", "--json"
        )
        found += json.loads(done.stdout[done.stdout.index("[") :])
    assert {one["subject"]: one["layer"] for one in found} == LAYERS, json.dumps(found, indent=1)
    assert all(one["next"] for one in found if one["held"])


def test_a_namespace_of_no_team_is_said(queued: World) -> None:
    output = queued.succeed("why", str(MANIFESTS / "right.yaml"), "--stack", "dev", "--sandbox")
    assert "not read: rules, pools and shares of a team: namespace default is no team's" in output


def test_a_trial_that_is_not_met_fails_with_the_answer(queued: World, tmp_path: Path) -> None:
    (tmp_path / "right.yaml").write_text((MANIFESTS / "right.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    expect = "namespace: vision\nwithin: 60s\nexpect: {job/right: {runsOn: h100}}\n"
    (tmp_path / "try.yaml").write_text(expect, encoding="utf-8")
    done = queued.run("rehearse", "dev", str(tmp_path))
    assert done.returncode == 1
    assert "job/right: a pod is on a100" in done.stdout


SCENARIOS: Final = ("borrowed-quota", "broken-gpu", "gang", "never-starts", "nine-layers", "preemption", "spot-reclaim")
"""All but no-capacity, in which Karpenter waits for three minutes; test_elastic.py has its layers."""


def test_the_shipped_scenarios_go_as_they_say(queued: World, client: KubeClient) -> None:
    files = [str(REPOSITORY / "scenarios" / f"{name}.yaml") for name in SCENARIOS]
    output = queued.succeed("rehearse", "dev", *files, "--json")
    found = json.loads(output[output.index("{\n") :])["scenarios"]
    assert [(one["scenario"], one["passed"]) for one in found] == [(name, True) for name in SCENARIOS]
    assert client.get(Ref("batch/v1", "Job", "on-spot", "vision")) is None
