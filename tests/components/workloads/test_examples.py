"""The examples work on their stacks."""

import re
from typing import Final

import pytest

from spec.jobs import LONGEST
from tests.components.workloads.examples import EXAMPLES, ROOT, manifests, record, settings, target
from tests.support.cases import beside

CASES: Final = beside(__file__)
KINDS = CASES["kinds of each example"]


def test_there_is_one_for_each_kind_of_workload() -> None:
    assert set(EXAMPLES) == set(KINDS)


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_declares_the_expected_kinds_in_its_teams_namespace(name: str) -> None:
    declared = manifests(name)
    assert {each["kind"] for each in declared} == set(KINDS[name])
    assert {each["metadata"]["namespace"] for each in declared} == {target(name).namespace}
    assert all(each["metadata"]["labels"]["platform.slipway/team"] for each in declared)


@pytest.mark.parametrize("name", EXAMPLES)
def test_nothing_falls_back_to_a_default_provider(name: str) -> None:
    assert record(name).default_provider_users == ()
    assert settings(name)["config"]["pulumi:disable-default-providers"] == {"value": ["*"]}


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_has_a_readme_and_is_listed_in_the_guide(name: str) -> None:
    page = (ROOT / "examples" / name / "README.md").read_text(encoding="utf-8")
    assert f"cd examples/{name}" in page
    assert re.search(rf"^## .*\]\(\.\./examples/{name}/\)", (ROOT / "docs/examples.md").read_text(), re.MULTILINE)


def test_distributed_training_uses_all_gpus_and_efa_and_writes_to_lustre() -> None:
    runtime, job = manifests("distributed-training")
    (node,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    pod = node["template"]["spec"]["template"]["spec"]
    limits = pod["containers"][0]["resources"]["limits"]
    assert (limits["nvidia.com/gpu"], limits["vpc.amazonaws.com/efa"], limits["hugepages-2Mi"]) == ("8", "32", "5120Mi")
    assert job["spec"]["trainer"]["numNodes"] == 2
    assert job["spec"]["activeDeadlineSeconds"] <= LONGEST
    claims = {each["persistentVolumeClaim"]["claimName"] for each in pod["volumes"] if "persistentVolumeClaim" in each}
    assert "checkpoints" in claims


def test_horovod_has_a_process_for_each_gpu() -> None:
    (job,) = manifests("horovod")
    replicas = {role: each["template"]["spec"] for role, each in job["spec"]["mpiReplicaSpecs"].items()}
    (launcher,), (worker,) = replicas["Launcher"]["containers"], replicas["Worker"]["containers"]
    workers = job["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"]
    assert launcher["command"][:3] == [
        "mpirun",
        "-np",
        str(workers * int(worker["resources"]["limits"]["nvidia.com/gpu"])),
    ]
