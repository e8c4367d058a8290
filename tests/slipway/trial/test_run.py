"""A trial on a real control plane: objects are created as a member, watched, and removed."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref, condition
from slipway.trial.evaluation import Status
from slipway.trial.expectations import Expectation, Trial
from slipway.trial.run import Run
from slipway.why.manifests import DryRun
from spec.errors import SlipwayError
from tests.components.admission.actors import TEAM, permissions
from tests.sandbox.living import living_plane
from tests.support.patience import SECONDS, too_long_once

pytestmark = pytest.mark.sandbox

PLACE = "trial"
Object = dict[str, Any]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KubeClient]:
    with living_plane(tmp_path_factory.mktemp("trial")) as plane:
        labels = {"platform.slipway/team": TEAM}
        plane.client.apply(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PLACE, "labels": labels}}, "t"
        )
        for manifest in permissions(PLACE):
            plane.client.apply(manifest, "t", force=True)
        yield plane.client


def job(name: str, **pod: Any) -> Object:
    body = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "a:1"}], **pod}
    spec = {"template": {"spec": body}, "backoffLimit": 0}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}


def trial(*pairs: tuple[Object, Object], seconds: float = SECONDS) -> Trial:
    names = [f"{one['kind'].lower()}/{one['metadata']['name']}" for one, _ in pairs]
    expected = [Expectation.model_validate(given) for _, given in pairs]
    manifests = dict(zip(names, (one for one, _ in pairs), strict=True))
    return Trial(PLACE, manifests, dict(zip(names, expected, strict=True)), seconds)


def run(client: KubeClient, given: Trial, clock: Callable[[], float] = time.monotonic) -> dict[str, tuple[Status, str]]:
    member = DryRun(client, PLACE).member
    assert member == f"slipway:{TEAM}:edit"
    found = Run(
        client=client,
        trial=given,
        namespace=PLACE,
        member=lambda _: member,
        target=lambda _: None,
        say=lambda _: None,
        clock=clock,
    ).run()
    return {f"{one.subject} {one.expected}": (one.status, one.detail) for one in found}


CLAIMED = {"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "missing"}}]}
ROLE = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "mine"}, "spec": {"limits": []}}


def test_objects_are_compared_with_what_is_expected_and_removed(client: KubeClient) -> None:
    found = run(
        client,
        trial(
            (job("good"), {"completesWithin": "4m"}),
            (job("claim", **CLAIMED), {"heldBy": "volume", "because": "claim missing does not exist"}),
            (job("wrong", restartPolicy="Always"), {"refusedBecause": "restartPolicy"}),
            (ROLE, {"refusedBecause": "cannot create"}),
        ),
    )
    assert {name: status for name, (status, _) in found.items()} == {
        "job/good completes within 4m": Status.PASSED,
        "job/claim held by volume because claim missing does not exist": Status.PASSED,
        "job/wrong refused because restartPolicy": Status.PASSED,
        "limitrange/mine refused because cannot create": Status.PASSED,
        "clean-up nothing is left": Status.PASSED,
    }
    assert client.get(Ref("batch/v1", "Job", "good", PLACE)) is None
    assert list(client.list(client.discovery.find("v1", "Pod"), PLACE)) == []


def test_an_expectation_that_is_not_met_in_time_fails_with_the_reason(client: KubeClient) -> None:
    pods, job_of_it = client.discovery.find("v1", "Pod"), Ref("batch/v1", "Job", "claim", PLACE)
    seen = 0

    def refused() -> bool:
        """Whether the scheduler has refused the pod, and the trial has not begun to remove its job.

        A trial looks at the clock four times at most for each look at the cluster (`Run._watch`): after five it has
        seen the pod.
        """
        nonlocal seen
        seen += is_refused()
        return seen > 5

    def is_refused() -> bool:
        found, of_job = client.get(job_of_it) or {}, client.list(pods, PLACE, selector="job-name=claim")
        there = "deletionTimestamp" not in found.get("metadata", {"deletionTimestamp": ""})
        return there and any(condition(pod, "PodScheduled").get("status") == "False" for pod in of_job)

    given = trial((job("claim", **CLAIMED), {"completesWithin": "4m"}))
    found = run(client, given, too_long_once(refused).monotonic)
    status, detail = found["job/claim completes within 4m"]
    assert status is Status.FAILED
    assert "claim missing does not exist" in detail


def test_an_object_that_exists_is_neither_changed_nor_removed(client: KubeClient) -> None:
    mine = job("mine")
    client.apply({**mine, "metadata": {"name": "mine", "namespace": PLACE}}, "t")
    with pytest.raises(SlipwayError, match="job/mine exists already in namespace trial"):
        run(client, trial((mine, {})))
    assert client.get(Ref("batch/v1", "Job", "mine", PLACE)) is not None


def test_objects_are_removed_if_watching_fails(client: KubeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr("slipway.trial.run.survey", broken)
    with pytest.raises(KeyboardInterrupt):
        run(client, trial((job("left"), {"completesWithin": "20s"})))
    assert client.get(Ref("batch/v1", "Job", "left", PLACE)) is None


def test_what_others_name_is_removed_when_they_are_gone(client: KubeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kueue's webhook denies the end of a TrainJob's deletion if its TrainingRuntime is gone."""
    slow = job("slow")
    slow["spec"]["template"]["metadata"] = {"annotations": {"sandbox.slipway/shutdown": "2s"}}
    named = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "named"}}
    left: list[object] = []
    delete = KubeClient.delete

    def watched(self: KubeClient, ref: Ref, *rest: Any) -> object:
        if ref.kind == "ConfigMap":
            left.append(self.get(Ref("batch/v1", "Job", "slow", PLACE)))
        return delete(self, ref, *rest)

    monkeypatch.setattr(KubeClient, "delete", watched)
    run(client, trial((named, {}), (slow, {"runsOn": "nowhere"}), seconds=1))
    assert left == [None]


def test_the_example_has_expectations_for_what_it_has() -> None:
    from slipway.trial.expectations import read  # noqa: PLC0415

    found = read(Path(__file__).resolve().parents[3] / "examples" / "manifests")
    assert all(one != Expectation() for one in found.expected.values())
