"""Every typed workload gets the address of its team's tracking server, in every container."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from components.workloads import Target, model_server, training_job
from spec.teams import labels, tracking
from tests.components.workloads.examples import EXAMPLES, ROOT, manifests, target
from tests.components.workloads.samples import SERVER, TRAINING, body


def containers(at: Any) -> Iterator[Mapping[str, Any]]:
    """Everything with an image, and the model of an InferenceService, which becomes one."""
    if isinstance(at, Mapping):
        if "image" in at or "storageUri" in at:
            yield at
        for value in at.values():
            yield from containers(value)
    elif isinstance(at, list | tuple):
        for value in at:
            yield from containers(value)


def env(container: Mapping[str, Any]) -> dict[str, Any]:
    return {each["name"]: each.get("value") for each in container.get("env", ())}


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_container_has_the_address_of_its_teams_server(name: str) -> None:
    team = target(name).labels[labels.TEAM]
    found = [container for manifest in manifests(name) for container in containers(manifest) if "image" in container]
    assert found
    assert {env(container).get(tracking.VARIABLE) for container in found} == {f"http://mlflow-{team}.mlflow"}


def test_so_does_the_model_of_a_named_runtime() -> None:
    server = replace(SERVER, runtime="triton-a100", target=replace(SERVER.target, runtimes=None, env={"A": "b"}))
    (model,) = containers(body(model_server("m", server), "service"))
    assert env(model) == {"A": "b"}


def test_a_variable_of_the_pod_overrides_it() -> None:
    pod = replace(TRAINING.pod, env={"A": "own"})
    job = body(training_job("j", replace(TRAINING, pod=pod, target=replace(TRAINING.target, env={"A": "b", "C": "d"}))))
    (container,) = containers(job)
    assert {"A": "own", "C": "d"}.items() <= env(container).items()


def test_a_platform_without_a_tracking_server_gives_none(tmp_path: Any) -> None:
    text = (ROOT / "stacks" / "Pulumi.dev.yaml").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.strip().startswith("mlflow:")]
    (tmp_path / "Pulumi.dev.yaml").write_text("\n".join(lines), encoding="utf-8")
    assert Target.from_stack_file("dev", tmp_path, namespace="vision").env == {}
