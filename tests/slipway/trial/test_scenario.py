"""Files of scenarios: what they say, what they may not say, and what happens in which order."""

import copy
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from infra.target import target_of
from sandbox.kubernetes.client import UnreachableError
from sandbox.nodes import ec2
from sandbox.nodes.ec2 import Ec2, Refusal
from slipway.trial import clock, run, scenario
from slipway.trial.evaluation import Check, Seen, Status, checks
from slipway.trial.events import Events
from slipway.trial.expectations import Expectation, Step, Trial
from slipway.trial.run import Life, Run
from slipway.trial.scenario import FOLDER, read
from slipway.why.bundle import Bundle
from slipway.why.explain import explain
from slipway.why.judge import violations
from slipway.why.price import bound
from spec import strict_yaml
from spec.errors import SlipwayError
from spec.settings.admission import Action
from tests.slipway.why.objects import Object, bundle, event, obj, workload
from tests.support.stacks import platform_of

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted((ROOT / FOLDER).glob("*.yaml"))
SHIPPED = [path for path in FILES if not clock.drives(path)]
PLACES = [pytest.param(path, stack, id=f"{path.stem}-{stack}") for path in SHIPPED for stack in read(path).stacks]
JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {}}
FILE: dict[str, Any] = {
    "description": "One job.",
    "stacks": ["dev"],
    "namespace": "vision",
    "timeline": [
        {"create": JOB},
        {"after": {"object": "job/a", "layer": "runs"}, "at": "5s", "reclaim": "job/a"},
        {"refuse": {"instanceType": "g6.2xlarge", "market": "spot"}},
        {"restore": {}},
        {"at": "1m", "delete": "job/a"},
        {"up": {"cluster": {"version": "1.36"}, "admission": {"defaults": False}}},
    ],
    "expect": {"job/a": {"startsAgain": True}},
}


def written(path: Path, document: object) -> Path:
    (path / "it.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    return path / "it.yaml"


def test_the_steps_of_a_file_in_their_order(tmp_path: Path) -> None:
    found = read(written(tmp_path, FILE))
    assert (found.name, found.stacks, found.trial.namespace) == ("it", ("dev",), "vision")
    assert found.trial.steps == [
        Step("create", "job/a"),
        Step("reclaim", "job/a", at=5, after=("job/a", "runs")),
        Step("refuse", detail={"instanceType": "g6.2xlarge", "market": "spot"}),
        Step("restore", detail={}),
        Step("delete", "job/a", at=60),
        Step("up", detail={"cluster": {"version": "1.36"}, "admission": {"defaults": False}}),
    ]
    assert found.trial.steps[-1].text == "up admission.defaults False cluster.version 1.36"
    assert [one.text for one in found.trial.steps][1:3] == [
        "reclaim job/a",
        "refuse instanceType g6.2xlarge market spot",
    ]


def test_another_stack_has_other_namespaces_fields_and_expectations(tmp_path: Path) -> None:
    other = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "b"},
        "spec": {"nodeName": "n", "containers": [{"name": "a"}, {"name": "b"}]},
    }
    differs = {
        "namespace": "vision-training",
        "every": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c"}]}},
        "objects": {"pod/b": {"spec": {"nodeName": None, "priority": 1}}},
        "expect": {"job/a": {"fails": True}},
    }
    document = {**FILE, "timeline": [*FILE["timeline"], {"create": other}], "differs": {"prod": differs}}
    path = written(tmp_path, document)
    assert read(path).trial == read(path, "dev").trial
    there = read(path, "prod").trial
    assert there.namespace == "vision-training"
    assert there.manifests["pod/b"] == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "b", "labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c"}], "priority": 1},
    }
    assert there.manifests["job/a"]["spec"] == {"containers": [{"name": "c"}]}
    assert there.expected["job/a"] == Expectation(fails=True)
    assert there.steps == read(path).trial.steps


WRONG = strict_yaml.beside(__file__, "wrong_scenarios")


@pytest.mark.parametrize("row", WRONG, ids=[str(row["says"]) for row in WRONG])
def test_a_wrong_file_is_refused_with_its_path_and_what_is_wrong(tmp_path: Path, row: dict[str, Any]) -> None:
    document = copy.deepcopy(FILE)
    at: Any = document
    *above, last = row["at"]
    for key in above:
        at = at[key]
    at[last] = row["value"]
    with pytest.raises(SlipwayError) as refused:
        read(written(tmp_path, document))
    assert "it.yaml" in str(refused.value)
    assert row["says"] in str(refused.value)


def test_a_missing_file_and_several_documents_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SlipwayError, match="there is no scenario"):
        read(tmp_path / "none.yaml")
    (tmp_path / "two.yaml").write_text("a: 1\n---\nb: 2\n", encoding="utf-8")
    with pytest.raises(SlipwayError, match="has 2 documents"):
        read(tmp_path / "two.yaml")


# What the shipped ones say, without a cluster.


@pytest.mark.parametrize(("path", "stack"), PLACES)
def test_a_shipped_scenario_expects_something_of_each_object_and_has_a_bad_variant(path: Path, stack: str) -> None:
    found = read(path, stack)
    expected = found.trial.expected.values()
    assert stack in found.stacks
    assert all(one != Expectation() for one in expected)
    bad = [one for one in expected if one.refused_because or one.held_by or one.fails or one.preempted_by]
    assert bad


@pytest.mark.parametrize(("path", "stack"), PLACES)
def test_the_rules_refuse_what_is_expected_and_the_prices_are(path: Path, stack: str) -> None:
    platform, found = platform_of(stack), read(path, stack)
    for name, one in found.trial.expected.items():
        manifest = found.trial.manifests[name]
        space = manifest["metadata"].get("namespace", found.trial.namespace)
        target = target_of(platform, namespace=space)
        refused = [each for each in violations(manifest, target, platform.admission) if each.action is Action.DENY]
        assert bool(refused) == bool(one.refused_because), [str(each) for each in refused]
        if one.costs_at_most is not None:
            costs = bound(manifest, target, platform)
            assert costs is not None
            assert costs.most is not None
            assert costs.most <= one.costs_at_most


def test_the_schema_is_current_and_accepts_what_is_shipped() -> None:
    assert scenario.main(["--check"]) == 0
    check = jsonschema.Draft202012Validator(json.loads(scenario.SCHEMA.read_text(encoding="utf-8")))
    for path in FILES:
        assert list(check.iter_errors(yaml.safe_load(path.read_text(encoding="utf-8")))) == []
    wrongs: list[dict[str, Any]] = [{"expect": {"job/a": {"startWithin": "5s"}}}, {"replay": {}}, {"timeline": None}]
    for wrong in wrongs:
        assert list(check.iter_errors({**FILE, **wrong})), wrong


# What EC2 does, and that it is undone.


def test_capacity_is_what_it_was_when_a_trial_ends(tmp_path: Path) -> None:
    before = Ec2((Refusal("p5.48xlarge", "", ""),))
    ec2.write(tmp_path, before)
    events = Events(client=None, home=tmp_path)  # type: ignore[arg-type]
    events.undo()
    assert ec2.read(tmp_path) == before
    assert events.act(Step("refuse", detail={"market": "spot"}), None)
    assert events.act(Step("refuse", detail={"instanceType": "g6.2xlarge"}), None)
    assert {one.text for one in ec2.read(tmp_path).refused} == {"p5.48xlarge", "every type, spot", "g6.2xlarge"}
    assert events.act(Step("restore", detail={}), None)
    assert ec2.read(tmp_path).refused == ()
    events.undo()
    assert ec2.read(tmp_path) == before


def test_an_object_without_a_node_can_not_lose_one_yet(tmp_path: Path) -> None:
    events = Events(client=None, home=tmp_path)  # type: ignore[arg-type]
    assert not events.act(Step("reclaim", "job/a"), None)
    assert not events.act(Step("reclaim", "job/a"), bundle(obj("Job", "a")))


# What shows over time.


class Pods:
    """Pods, each on a node of its own, and the nodes that exist; `phases` are of those that don't run."""

    def __init__(self, *uids: str, nodes: str = "", **phases: str) -> None:
        self.pods = tuple(
            {
                "metadata": {"uid": uid},
                "spec": {"nodeName": f"of-{uid}"},
                "status": {"phase": phases.get(uid, "Running")},
            }
            for uid in uids
        )
        self.nodes = nodes

    def of_kind(self, kind: str) -> list[Object]:
        return [obj(kind, f"of-{uid}") for uid in self.nodes]


def test_a_node_is_replaced_when_it_is_gone_and_the_job_has_run_on_another() -> None:
    moved, stayed, beside = Life(began=0), Life(began=0), Life(began=0)
    seen = []
    for pods in (Pods(nodes="a"), Pods("a", nodes="ab"), Pods(nodes="b"), Pods("b", nodes="ab"), Pods(nodes="b")):
        moved.follow(pods, "runs")  # type: ignore[arg-type]
        seen.append(moved.replaced)
    assert seen == [False, False, False, False, True]
    for pods in (Pods("a", nodes="ab"), Pods("a", nodes="b")):
        stayed.follow(pods, "runs")  # type: ignore[arg-type]
    for pods in (Pods("a", nodes="ab"), Pods("b", nodes="a")):
        beside.follow(pods, "runs")  # type: ignore[arg-type]
    assert (stayed.replaced, beside.replaced) == (False, False)


def test_pods_start_again_when_as_many_others_run() -> None:
    life = Life(began=0)
    seen = []
    for pods in (Pods(), Pods("a"), Pods("a", "b"), Pods("b"), Pods("b", "c"), Pods()):
        life.follow(pods, "runs")  # type: ignore[arg-type]
        seen.append(life.started_again)
    assert seen == [False, False, False, False, True, False]
    assert life.disturbed


def test_pods_that_end_are_not_lost() -> None:
    life = Life(began=0)
    for pods, layer in ((Pods("a", "b"), "runs"), (Pods("a", "b", a="Succeeded"), "runs"), (Pods(), "finished")):
        life.follow(pods, layer)  # type: ignore[arg-type]
        assert not life.disturbed
    life.follow(Pods("a", "b", b="Failed"), "runs")  # type: ignore[arg-type]
    assert life.disturbed


def seen_of(read_: Bundle, **more: Any) -> Seen:
    return Seen(bundle=read_, answer=explain(read_), **more)


def test_a_preemption_counts_for_the_object_that_it_was_for() -> None:
    job = obj("Job", "a", spec={"suspend": True})
    wl = workload(owner=job)
    said = event(wl, "Preempted", "Preempted to accommodate a workload (UID: w, JobUID: other-uid) due to ...")
    read_ = bundle(job, wl, events=(said,))
    (for_it,) = checks(
        "job/a", Expectation.model_validate({"preemptedBy": "job/b"}), seen_of(read_, uids={"job/b": "other-uid"})
    )
    (for_none,) = checks(
        "job/a", Expectation.model_validate({"preemptedBy": "job/b"}), seen_of(read_, uids={"job/b": "another"})
    )
    assert (for_it.status, for_none.status) == (Status.PASSED, Status.WAITS)


def test_a_price_is_compared_and_an_unknown_one_fails() -> None:
    read_ = bundle(obj("Job", "a"))
    found = [
        checks("job/a", Expectation.model_validate({"costsAtMost": 5}), seen_of(read_, price=price))[0].status
        for price in (Decimal(5), Decimal("5.01"), None)
    ]
    assert found == [Status.PASSED, Status.FAILED, Status.FAILED]


@pytest.mark.parametrize("updating", [True, False])
def test_an_api_server_that_is_away_while_the_stack_is_updated_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, updating: bool
) -> None:
    class Updating:
        works, ended = updating, not updating

        def act(self, _step: Step, _bundle: Bundle | None) -> bool:
            self.works = self.works and not self.ended
            return self.ended

    def away(*_: object) -> Any:
        msg = "away"
        raise UnreachableError(msg)

    def ends(_: float) -> None:
        events.ended = True
        monkeypatch.setattr(run, "survey", lambda *_: None)

    events, passed = Updating(), Check("job/a", "accepted", Status.PASSED)
    monkeypatch.setattr(run, "survey", away)
    monkeypatch.setattr(Run, "_look", lambda *_: [passed])
    trial = Trial(
        "vision",
        {"job/a": JOB},
        {"job/a": Expectation()},
        0,
        [Step("up", after=("job/a", "queue") if updating else None)],
    )
    one = Run(
        client=None, trial=trial, namespace="vision", member=str, target=lambda _: None, say=print,  # type: ignore[arg-type]
        events=events, sleep=ends,  # type: ignore[arg-type]
    )  # fmt: skip
    if updating:
        assert one._watch() == [passed]
    else:
        with pytest.raises(UnreachableError):
            one._watch()
