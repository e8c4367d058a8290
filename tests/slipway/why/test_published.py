"""Manifests as articles print them end right: accepted, completed by `--fix`, or held with what to do."""

import re
from typing import Any, Final

import pytest
import yaml

from infra.target import target_of
from slipway.why import fix, manifests, trainjob
from slipway.why.answer import Answer
from spec import strict_yaml
from spec.settings import Platform
from spec.settings.admission import Admission
from tests.support.stacks import platform_of

CASES: Final[list[dict[str, Any]]] = strict_yaml.beside(__file__, "published")
JOB: Final[dict[str, Any]] = yaml.safe_load(next(each["text"] for each in CASES if "PyTorchJob" in each["name"]))


def answers(text: str, platform: Platform, namespace: str) -> tuple[list[Answer], str]:
    """What `slipway why FILE --fix` answers without a cluster, and what it prints of changes."""
    target = target_of(platform, namespace=namespace)
    made = trainjob.translated(text, platform.addons)
    located = manifests.located(list(yaml.safe_load_all(made.text)))
    fixed = fix.file(made.text, [(at, one, target) for at, one in located], platform.admission)
    assert list(yaml.safe_load_all(fixed.text)) == list(fixed.objects)
    said = [
        *(one for each in made.changes.values() for one in each),
        *(str(one) for own in fixed.changes for one in own),
    ]
    found = [
        manifests.answer(
            one, target=target, rules=platform.admission, dry_run=None, others=fixed.objects, platform=platform
        )
        for one in fixed.objects
    ]
    return found, "\n".join(said)


@pytest.mark.parametrize("stack", ["dev", "staging", "prod"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_it_ends_right(case: dict[str, Any], stack: str) -> None:
    purpose = "serving" if case.get("serving") else "training"
    found, said = answers(case["text"], platform_of(stack), "vision" if stack == "dev" else f"vision-{purpose}")
    *_, last = found
    assert all(not one.held for one in found[:-1])
    assert last.held == ("accepted" not in case["ends"][stack])
    assert re.search(case["ends"][stack], last.text()), last.text()
    for one in case.get("changes", ()):
        assert re.search(one, said), said


def changed(**spec: Any) -> str:
    """The PyTorchJob with other fields."""
    return yaml.safe_dump({**JOB, "spec": {**JOB["spec"], **spec}})


def started(*command: str, args: tuple[str, ...] = (), nodes: int = 2) -> dict[str, Any]:
    """Groups of pods with a command."""
    container = {"name": "pytorch", "image": "i:1", "command": list(command), "args": list(args)}
    group = {"template": {"spec": {"containers": [{key: one for key, one in container.items() if one}]}}}
    return {"Master": {"replicas": 1, **group}, "Worker": {"replicas": nodes - 1, **group}}


def made(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The container and the trainer that stand for a job."""
    found = trainjob.translated(text, platform_of("prod").addons)
    assert not found.left
    runtime, job = yaml.safe_load_all(found.text)
    (pods,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    (container,) = pods["template"]["spec"]["template"]["spec"]["containers"]
    return container, job["spec"]["trainer"]


@pytest.mark.parametrize(("groups", "processes", "command", "trainer"), [
    (started("torchrun", "--nproc_per_node=4", "t.py"), None, ["torchrun", "--nproc_per_node=4", "t.py"], {}),
    (started("python", "-m", "torch.distributed.run", "t.py"), "4", ["python", "-m", "torch.distributed.run", "t.py"],
     {"numProcPerNode": 4}),
    (started("/usr/bin/python3.11", "-m", "train"), None, ["torchrun", "-m", "train"], {"numProcPerNode": 1}),
    (started("sh", "-c", "torchrun --nnodes=$WORLD_SIZE --node_rank=${RANK} --master_addr=$(MASTER_ADDR) t.py"), "auto",
     ["sh", "-c", "torchrun --nnodes=$PET_NNODES --node_rank=${PET_NODE_RANK} --master_addr=$(PET_MASTER_ADDR) t.py"],
     {}),
])  # fmt: skip
def test_torchrun_starts_the_processes(
    groups: dict[str, Any], processes: str | None, command: list[str], trainer: dict[str, Any]
) -> None:
    more = {} if processes is None else {"nprocPerNode": processes}
    container, found = made(changed(pytorchReplicaSpecs=groups, **more))
    assert container["command"] == command
    assert found == {"numNodes": 2, **trainer}


@pytest.mark.parametrize(("spec", "reason"), [
    ({"elasticPolicy": {"minReplicas": 1}}, "nothing like spec.elasticPolicy"),
    ({"runPolicy": {"schedulingPolicy": {"queue": "q"}}}, "nothing like spec.runPolicy.schedulingPolicy"),
    ({"nprocPerNode": "gpu"}, "not by nprocPerNode gpu"),
    ({"pytorchReplicaSpecs": {"Worker": JOB["spec"]["pytorchReplicaSpecs"]["Worker"]}}, "Master and Worker"),
    ({"pytorchReplicaSpecs": started("torchrun", "a.py") | {"Worker": started("torchrun", "b.py")["Worker"]}}, "equal"),
    ({"pytorchReplicaSpecs": started("python", "-c", "pass")}, "`python -c` starts"),
    ({"pytorchReplicaSpecs": started(args=("--lr=1",))}, "own entry point"),
    ({"pytorchReplicaSpecs": started("python", "t.py"), "nprocPerNode": "4"}, "`python t.py` starts"),
    ({"pytorchReplicaSpecs": started("torchrun", "--nnodes=$WORLD_SIZE", "t.py"), "nprocPerNode": "4"}, "4 processes"),
])  # fmt: skip
def test_a_job_that_trainer_would_run_otherwise_stays(spec: dict[str, Any], reason: str) -> None:
    text = changed(**spec)
    found = trainjob.translated(text, platform_of("prod").addons)
    assert found.text == text
    assert reason in found.left["pytorchjob/llm"][0]


def test_where_the_training_operator_runs_it_stays() -> None:
    addons = platform_of("prod").addons
    assert trainjob.translated(changed(), addons.model_copy(update={"trainer": None})).text == changed()


@pytest.mark.parametrize(
    "said", ["runtime 'llm' not found", 'TrainingRuntime.trainer.kubeflow.org "llm" not found: no']
)
def test_a_dry_run_of_a_job_finds_its_runtime_in_the_file(said: str) -> None:
    """The webhook looks for it in the cluster, where a dry run keeps nothing."""

    class Server:
        member = ""

        def of(self, manifest: Any) -> manifests.Outcome:
            job = manifest["kind"] == "TrainJob"
            return manifests.Outcome(f"denied the request: {said}" if job else "", "trainjob/llm")

        def missing(self, *_: Any) -> list[str]:
            return []

        names = missing

    runtime, job = yaml.safe_load_all(trainjob.translated(changed(), platform_of("prod").addons).text)
    for others, held in (([runtime, job], False), ([job], True)):
        found = manifests.answer(job, target=None, rules=Admission(), dry_run=Server(), others=others)  # type: ignore[arg-type]
        assert found.held == held
