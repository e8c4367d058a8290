"""`slipway sandbox capacity|reclaim|expire|run|wait`, and `status --limits`."""

import json
from argparse import Namespace
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from sandbox.identity import ProcessIdentity
from sandbox.kubernetes.controllers.running import Entry, Report, State
from sandbox.kubernetes.objects import Ref
from sandbox.nodes.instances import INTERRUPTION
from sandbox.toolchain import building
from slipway.cli import cluster, elastic, main, offline, sandbox_run
from slipway.cli.offline import Sandbox
from slipway.cli.sandbox import progress_of
from slipway.cli.sandbox_run import SECRET, copied, cost_line, nearest, planned
from slipway.engine.gate import UNKNOWN
from spec.errors import SlipwayError

# `slipway sandbox capacity|reclaim|expire`.
from tests.slipway.conftest import Slipway
from tests.support.cases import beside
from tests.support.stacks import platform_of

CASES: Final = beside(__file__)


class Client:
    """A cluster with a Spot node of Karpenter, one on demand, and one of a node group."""

    def __init__(self) -> None:
        self.merged: dict[str, Any] = {}
        self.deleted: list[str] = []

    def get(self, ref: Ref) -> dict[str, Any] | None:
        kinds = {"spot-1": "spot", "gpu-1": "on-demand", "system-0": ""}
        if ref.name not in kinds or (ref.kind == "NodeClaim" and ref.name == "system-0"):
            return None
        labels = {"karpenter.sh/capacity-type": kinds[ref.name]} if kinds[ref.name] else {}
        return {"metadata": {"name": ref.name, "labels": labels}, "spec": {"terminationGracePeriod": "48h"}}

    def merge(self, ref: Ref, patch: dict[str, Any]) -> None:
        self.merged[ref.name] = patch["metadata"]["annotations"]

    def delete(self, ref: Ref) -> None:
        self.deleted.append(f"{ref.kind}/{ref.name}")


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    (tmp_path / "kubeconfig").write_text(json.dumps({"clusters": [{"name": "slipway-dev"}]}))
    sandbox = Sandbox(home=tmp_path, variables={}, kubeconfig=tmp_path / "kubeconfig")
    monkeypatch.setattr(offline, "find_running", lambda: sandbox)
    client = Client()
    monkeypatch.setattr(elastic, "client_of", lambda *_: client)
    return client


@pytest.mark.usefixtures("client")
def test_capacity_is_refused_and_restored(slipway: Slipway) -> None:
    assert (
        "p5.48xlarge in us-east-1a, spot"
        in slipway("sandbox capacity --refuse p5.48xlarge --zone us-east-1a --market spot").out
    )
    shown = json.loads(slipway("sandbox capacity --launch-seconds 30 --json").out)
    one = {"instanceType": "p5.48xlarge", "zone": "us-east-1a", "capacityType": "spot"}
    assert shown == {"refused": [one], "launchSeconds": 30.0}
    assert "EC2 has capacity for every type" in slipway("sandbox capacity --restore all").out


@pytest.mark.usefixtures("client")
def test_an_unknown_type_is_refused_with_the_nearest(slipway: Slipway) -> None:
    assert "did you mean p5.48xlarge?" in slipway("sandbox capacity --refuse p5.48xlargee", code=1).err


def test_a_spot_node_gets_the_time_of_its_interruption(client: Client) -> None:
    assert main(["sandbox", "reclaim", "spot-1"]) == 0
    assert list(client.merged) == ["spot-1"]
    assert client.merged["spot-1"][INTERRUPTION].endswith("Z")


@pytest.mark.parametrize("node", ["gpu-1", "system-0", "none"])
def test_no_other_node_is_interrupted(client: Client, node: str, slipway: Slipway) -> None:
    assert node in slipway("sandbox reclaim", node, code=1).err
    assert client.merged == {}


def test_a_node_expires_as_karpenter_lets_it(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "expire", "gpu-1"]) == 0
    assert client.deleted == ["NodeClaim/gpu-1"]
    assert "drains, for at most 48h" in capsys.readouterr().out
    assert main(["sandbox", "expire", "system-0"]) == 1
    assert client.deleted == ["NodeClaim/gpu-1"]


def test_limits_as_json(slipway: Slipway) -> None:
    shown = json.loads(slipway("sandbox status --limits iam/role: --json").out)
    assert {one["type"] for one in shown} == {"aws:iam/role:Role"}
    assert "create_role.RoleName" in {one["parameter"] for one in shown}


# `slipway sandbox run` around a command; tests/e2e/test_any_program.py runs real ones.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "app" / "src").mkdir(parents=True)
    (tmp_path / "app" / "Pulumi.yaml").write_text("name: app\nruntime: python\nstackConfigDir: config\n")
    (tmp_path / "app" / "config").mkdir()
    return tmp_path / "app"


def test_the_project_is_the_nearest_one_upward(folder: Path, tmp_path: Path) -> None:
    found = nearest(folder / "src")
    assert found is not None
    assert (found.root, found.name, found.stacks) == (folder, "app", folder / "config")
    assert nearest(tmp_path) is None


def test_a_checkout_of_slipway_is_none_of_them(folder: Path) -> None:
    (folder / "Pulumi.yaml").write_text("name: slipway\nruntime: python\n")
    (folder / "stacks").mkdir()
    assert nearest(folder) is None


def test_a_copy_has_the_settings_without_keys_and_secrets_of_another_backend(folder: Path, tmp_path: Path) -> None:
    text = CASES["settings with secrets"]
    (folder / "config" / "Pulumi.dev.yaml").write_text(text)
    project = nearest(folder)
    assert project is not None
    copy, secrets = copied(project, "dev", tmp_path / "home", "eu-west-1")
    assert secrets == ["app:token", "app:users[0].key"]
    users = [{"name": "jo", "key": SECRET}]
    settings = {"aws:region": "eu-west-1", "app:size": 3, "app:token": SECRET, "app:users": users}
    assert yaml.safe_load(copy.read_text()) == {"config": settings}
    assert (folder / "config" / "Pulumi.dev.yaml").read_text() == text
    assert yaml.safe_load((copy.parent / "Pulumi.yaml").read_text())["name"] == "app"


def test_a_copy_keeps_its_own_key_and_the_region_that_the_program_names(folder: Path, tmp_path: Path) -> None:
    (folder / "Pulumi.yaml").write_text("name: app\nruntime: python\nconfig: {'aws:region': us-west-2}\n")
    project = nearest(folder)
    assert project is not None
    copy, _ = copied(project, "new", tmp_path / "home", "eu-west-1")
    assert yaml.safe_load(copy.read_text()) == {"config": {}}
    copy.write_text(copy.read_text() + "encryptionsalt: v1:ours\n")
    copied(project, "new", tmp_path / "home", "eu-west-1")
    assert yaml.safe_load(copy.read_text()) == {"config": {}, "encryptionsalt": "v1:ours"}


def test_a_stack_file_that_is_no_mapping_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "config" / "Pulumi.dev.yaml").write_text("- a\n")
    project = nearest(folder)
    assert project is not None
    with pytest.raises(SlipwayError, match=r"Pulumi\.dev\.yaml is no YAML mapping"):
        copied(project, "dev", tmp_path / "home", "eu-west-1")


def test_the_command_has_to_be_named() -> None:
    with pytest.raises(SlipwayError, match="name the command after `--`"):
        sandbox_run.run(Namespace(extra=()))


# `slipway sandbox wait`.

B, S, R, F, M = State.BUILDING, State.STARTING, State.RUNNING, State.FAILING, State.MISSING


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize(
    ("looks", "code", "said"),
    [
        ([(B, B), (S, B), (R, B), (R, S), (R, R)], 0, "kueue 1, jobset 1 running."),
        ([(B, B), (M, B), (M, R)], 1, "  kueue 1 can't be built: go build failed"),
        ([(R, S), (R, F), (R, S), (R, R)], 0, "running."),
        ([(R, S), *[(R, F)] * 40], 1, "  jobset 1 fails: go build failed"),
        ([()], 0, "no controller of an add-on is installed"),
    ],
)
def test_wait_ends_when_each_controller_runs_or_can_not(
    slipway: Slipway, monkeypatch: pytest.MonkeyPatch, looks: list[tuple[State, ...]], code: int, said: str
) -> None:
    now, at = [0.0], iter(looks)
    monkeypatch.setattr("slipway.cli.sandbox.time.monotonic", lambda: now[0])
    monkeypatch.setattr("slipway.cli.sandbox.time.sleep", lambda seconds: now.append(now.pop() + seconds))

    def load(_: Path) -> list[Entry]:
        names = zip(("kueue", "jobset"), next(at), strict=False)
        return [Entry("a", name, "1", state, "go build failed") for name, state in names]

    monkeypatch.setattr("slipway.cli.sandbox.load", load)
    shown = slipway("sandbox wait", code=code)
    assert said in shown.out
    assert len(list(at)) == (9 if F in looks[-1] else 0)


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("command", [["rehearse", "dev"], ["rehearse", "dev", "examples/manifests"]])
def test_what_starts_jobs_waits_for_the_controllers_first(
    slipway: Slipway, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    looks = [[Entry("a", "kueue", "1", state)] for state in (B, S, R)]
    monkeypatch.setattr("slipway.cli.sandbox.time.sleep", lambda _: None)
    monkeypatch.setattr("slipway.cli.sandbox.load", lambda _: looks.pop(0))
    monkeypatch.setattr("slipway.cli.rehearse._replay", lambda *_: iter(()))
    monkeypatch.setattr(cluster, "client_of", lambda *_: None)
    assert "the sandbox has no cluster" in slipway(*command, code=1).err
    assert looks == []


def test_what_asks_the_sandbox_says_in_one_line_which_controllers_are_missing(
    slipway: Slipway,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    client: Client,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("SLIPWAY_SANDBOX_HOME", str(tmp_path))
    monkeypatch.setattr(cluster, "client_of", lambda *_: client)
    report = Report(tmp_path)
    report.set(Entry("a", "kueue", "1", B, "412 packages"))
    report.set(Entry("a", "jobset", "1", R))
    said = "not running: kueue 1 is being built: 412 packages. `slipway sandbox wait` ends once they do\n"
    cluster.of_sandbox(platform_of("dev"))
    assert capsys.readouterr().err == said
    shown = slipway("quickstart training-job --stack dev --team vision --sandbox")
    assert (shown.err.endswith(said), said in shown.out) == (True, False)
    report.set(Entry("a", "kueue", "1", R))
    assert "not running" not in slipway("quickstart training-job --stack dev --team vision --sandbox").err


def test_wait_shows_what_is_built_now_then_and_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [Entry("a", name, "1", B) for name in ("trainer", "karpenter", "kueue")] + [Entry("a", "jobset", "1", R)]
    monkeypatch.setattr(building, "minutes", lambda names, now: len(names) * (2 if now else 3))
    monkeypatch.setattr(building, "present", lambda: None)
    left = "about 9 min on 2 cores"
    assert progress_of(entries) == f"1 of 4 run; kueue is being built, then trainer, karpenter: {left}"
    assert progress_of(entries[2:]) == "1 of 2 run; kueue is being built: about 3 min on 2 cores"
    # Another sandbox began it.
    monkeypatch.setattr(building, "present", lambda: ProcessIdentity("karpenter", 7, "boot", 1))
    assert "karpenter is being built, then kueue, trainer: about 6 min" in progress_of(entries)
    assert progress_of(entries[3:]) == "1 of 1 run"


def test_stop_names_the_build_that_goes_on(slipway: Slipway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "stop", lambda _: True)
    monkeypatch.setattr(building, "present", lambda: ProcessIdentity("kueue", 7, "boot", 1))
    assert "kueue is being built, for whoever needs it next: `kill 7` ends that" in slipway("sandbox stop").out
    monkeypatch.setattr(building, "present", lambda: None)
    assert slipway("sandbox stop").out == "the sandbox is stopped\n"


def test_a_preview_has_the_price_of_what_there_would_be(tmp_path: Path) -> None:
    cluster, group = "aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup"
    sizes = {"minSize": 0, "desiredSize": 1, "maxSize": 2}
    steps = [
        ("create", cluster, {"version": "1.33", "roleArn": UNKNOWN}),
        ("create-replacement", group, {"instanceTypes": ["g6.xlarge"], "scalingConfig": sizes}),
        ("replace", group, {"instanceTypes": ["g6.xlarge"], "scalingConfig": sizes}),
        ("read", "aws:ec2/instance:Instance", {"instanceType": "p5.48xlarge"}),
        ("delete", "aws:ec2/natGateway:NatGateway", None),
    ]
    events: list[dict[str, Any]] = [{"preludeEvent": {}}]
    for op, kind, inputs in steps:
        new = None if inputs is None else {"inputs": inputs}
        events.append({"resourcePreEvent": {"metadata": {"op": op, "urn": kind, "type": kind, "new": new}}})
    (log := tmp_path / "events").write_text("\n".join(map(json.dumps, events)))
    assert [kind for kind, _ in planned(log)] == [cluster, group]
    # 0.60 USD an hour past standard support, and up to two nodes of 0.8048 USD.
    assert cost_line(planned(log)) == "Cost a month by list prices: $438.00 to $1,613.01."
    assert planned(tmp_path / "none") == []
