"""Pipelines: order, placement and limits of their steps."""

from __future__ import annotations

import json
from dataclasses import replace

from components.workloads import Step, pipeline
from tests.components.workloads.samples import CPU, GOOD, PIPELINE, bodies, body


def test_a_step_depends_on_earlier_steps() -> None:
    first, *_ = body(GOOD["pipeline"](), "template")["spec"]["templates"]
    prepare, train = first["dag"]["tasks"]
    assert "depends" not in prepare
    assert train["depends"] == "prepare"
    both = {"a": Step(pod=CPU), "b": Step(pod=CPU), "c": Step(pod=CPU, after=("a", "b"))}
    tasks = body(pipeline("x", replace(PIPELINE, steps=both)), "template")["spec"]["templates"][0]["dag"]["tasks"]
    assert tasks[-1]["depends"] == "a && b"


def test_each_step_runs_on_its_pool_and_is_queued_separately() -> None:
    _, prepare, train = body(GOOD["pipeline"](), "template")["spec"]["templates"]
    assert prepare["nodeSelector"] == {"platform.slipway/pool": "cpu"}
    assert train["nodeSelector"] == {"platform.slipway/pool": "spot"}
    assert all(each["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "default" for each in (prepare, train))


def test_pod_fields_that_a_template_lacks_are_patched_in() -> None:
    _, prepare, _ = body(GOOD["pipeline"](), "template")["spec"]["templates"]
    assert json.loads(prepare["podSpecPatch"]) == {"enableServiceLinks": False, "terminationGracePeriodSeconds": 30}


def test_a_run_has_a_deadline_and_a_ttl() -> None:
    spec = body(GOOD["pipeline"](), "template")["spec"]
    assert spec["activeDeadlineSeconds"] == 3600
    assert spec["ttlStrategy"] == {"secondsAfterCompletion": 86400}


def test_runs_and_schedules_refer_to_the_template() -> None:
    manifests = bodies(GOOD["pipeline"]())
    assert manifests["run"]["spec"] == {"workflowTemplateRef": {"name": "weekly"}}
    assert manifests["run"]["metadata"]["name"] == "weekly-first"
    schedule = manifests["schedule"]["spec"]
    assert schedule["workflowSpec"] == {"workflowTemplateRef": {"name": "weekly"}}
    assert (schedule["schedules"], schedule["concurrencyPolicy"]) == (["0 3 * * *"], "Forbid")


def test_without_a_run_or_a_schedule_nothing_starts() -> None:
    assert set(pipeline("weekly", replace(PIPELINE, run=None, schedule=None))) == {"template"}
