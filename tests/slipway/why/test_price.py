"""What a manifest costs: nodes of its pods, until its deadline, all attempts together."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from slipway.why.manifests import answer
from slipway.why.price import Bound, bound
from spec.pricing.pods import usd
from spec.settings.admission import Admission
from spec.settings.pools import Provisioner
from tests.slipway.why.objects import DEV, POOL, Object
from tests.slipway.why.test_file import MIG, TOLERATION, job
from tests.support.stacks import platform_of

PLATFORM = platform_of("dev")


def of(manifest: Object) -> Bound:
    found = bound(manifest, DEV, PLATFORM)
    assert found is not None
    return found


def hourly(nodes: int) -> Decimal:
    return of(job()).hourly * nodes


def ray(**spec: Any) -> Object:
    template = job()["spec"]["template"]
    workers = {"groupName": "w", "replicas": 2, "minReplicas": 1, "template": template}
    head = {"template": template}
    cluster = {"headGroupSpec": head, "workerGroupSpecs": [workers]}
    return {
        "apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": "r", "namespace": "vision"},
        "spec": {"activeDeadlineSeconds": 3600, "rayClusterSpec": cluster, **spec},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("pods", "instances", "nodes"), [(1, 1, 1), (56, 1, 1), (57, 1, 2), (8, 7, 1), (9, 7, 2), (3, 56, 3)], ids=str
)
def test_pods_share_nodes_by_what_they_request(pods: int, instances: int, nodes: int) -> None:
    limits = {"cpu": "100m", "memory": "256Mi", MIG: str(instances)}
    found = of(job(limits, spec__parallelism=pods))
    assert found.nodes == (f"{nodes} x p4d.24xlarge (on-demand) of pool a100",)
    assert found.hourly == hourly(nodes)


def test_pods_share_nodes_by_their_memory_too() -> None:
    assert of(job({"cpu": "1", "memory": "600Gi", MIG: "1"}, spec__parallelism=2)).hourly == hourly(2)


def test_nodes_are_as_large_as_the_maximum_of_the_pool_needs() -> None:
    many = job({"cpu": "1", "memory": "2Gi"}, pod__nodeSelector={POOL: "cpu"}, spec__parallelism=20)
    assert of(many).nodes == ("3 x m7i.2xlarge (on-demand) of pool cpu",)  # of m7i.xlarge it would be 7, and 6 may run


def test_the_deadline_and_the_empty_node_bound_it() -> None:
    idle = of(job()).idle_seconds
    assert of(job(spec__activeDeadlineSeconds=7200)).most == hourly(1) * (7200 + idle) / 3600
    endless = job()
    del endless["spec"]["activeDeadlineSeconds"]
    assert (of(endless).most, "usdAtMost" in of(endless).numbers) == (None, False)
    assert "it has no deadline" in of(endless).text


@pytest.mark.parametrize(("retries", "attempts"), [({}, 1), ({"backoffLimit": 2}, 3)])
def test_a_deadline_of_each_attempt_counts_for_all(retries: dict[str, int], attempts: int) -> None:
    assert of(ray(**retries)).seconds == attempts * 3600


def test_a_job_of_which_all_attempts_share_a_deadline_counts_it_once() -> None:
    assert of(job(spec__backoffLimit=5)).seconds == 3600


def test_groups_of_pods_share_nodes() -> None:
    assert of(ray()).nodes == ("1 x p4d.24xlarge (on-demand) of pool a100",)


def test_without_a_choice_of_pool_it_is_the_dearest_that_may_be_used() -> None:
    anywhere = job({"cpu": "1", "memory": "1Gi"}, pod__nodeSelector=None, pod__tolerations=None)
    named = job({"cpu": "1", "memory": "1Gi"}, pod__nodeSelector={POOL: "cpu"}, pod__tolerations=None)
    assert of(anywhere).hourly >= of(named).hourly > 0


@pytest.mark.parametrize(
    "manifest",
    [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}},
        job(spec__parallelism=0),
        job(pod__nodeSelector={POOL: "none"}, pod__tolerations=[TOLERATION]),
    ],
    ids=["no pods", "no pods now", "no pool"],
)
def test_what_starts_nothing_has_no_price(manifest: Object) -> None:
    assert bound(manifest, DEV, PLATFORM) is None


def test_the_answer_about_a_file_ends_with_its_price() -> None:
    found = answer(job(), target=DEV, rules=Admission(), dry_run=None, platform=PLATFORM)
    assert [one.text for one in found.part.evidence if one.source == "price"] == [of(job()).text]
    assert {"usdPerHour", "usdAtMost"} < set(found.part.numbers)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {},
            "after some 7 min 21 s (Karpenter waits for more pods 1 s, EC2, boot and device plugin 2 min 30 s",
        ),
        ({"provisioner": Provisioner.MANAGED}, "shorter by pools.a100.min, pools.a100.parallelImagePull"),
        ({"parallel_image_pull": True}, "reboot for MIG 2 min); shorter by pools.a100.capacityBuffer"),
        ({"min": 1}, "the nodes of a100 always run"),
    ],
    ids=str,
)
def test_the_answer_about_a_file_says_when_it_starts(changes: Object, said: str) -> None:
    pool = DEV.pools["a100"]
    of_pool = replace(pool, settings=pool.settings.model_copy(update=changes))
    target = replace(DEV, pools={**DEV.pools, "a100": of_pool})
    found = answer(job(), target=target, rules=Admission(), dry_run=None, platform=PLATFORM)
    (start,) = [one.text for one in found.part.evidence if one.source == "start"]
    assert said in start


def test_a_held_object_has_none() -> None:
    held = job(spec__activeDeadlineSeconds=None)
    found = answer(held, target=DEV, rules=Admission(), dry_run=None, platform=PLATFORM)
    assert found.held
    assert "price" not in {one.source for one in found.part.evidence}


def test_a_workflow_has_the_price_of_a_pod_of_each_template_and_what_keeps_one_from_running() -> None:
    def run(gpus: object, **more: Any) -> Object:
        return {"name": f"of-{gpus}", "container": {"image": "a:1", "resources": {"limits": {MIG: gpus}}}, **more}

    dag = {"name": "main", "dag": {"tasks": [{"name": "last", "inline": run(2)}]}}
    templates = [dag, run(1), run(57), run("{{inputs.parameters.n}}")]
    spec = {"nodeSelector": {POOL: "a100"}, "tolerations": [TOLERATION], "activeDeadlineSeconds": 7200}
    spec["podMetadata"] = {"labels": {"kueue.x-k8s.io/queue-name": "default"}}
    found = {
        kind: answer(
            {"apiVersion": "argoproj.io/v1alpha1", "kind": kind, "metadata": {"name": "w"}, "spec": body},
            target=replace(DEV, addons=None, job_usd=30), rules=Admission(), dry_run=None, platform=PLATFORM,
        ).part
        for kind, body in (
            ("Workflow", {**spec, "templates": templates}),
            ("CronWorkflow", {"workflowSpec": {**spec, "templates": templates}}),
        )
    }  # fmt: skip
    for part in found.values():
        said = {one.source: one.text for one in part.evidence}
        whole = f"at most {usd(hourly(1) * (7200 + of(job()).idle_seconds) / 3600)} USD for 2 h"
        assert all(whole in said[f"price of a pod of {name}"] for name in ("of-1", "last"))
        assert said["price of a pod of of-1"].endswith("one job of the team may cost 30 USD")
        assert said["price of a pod of of-{{inputs.parameters.n}}"].startswith("not known before it runs")
        assert any("template of-57" in text for text in (part.cause, *said.values()))
