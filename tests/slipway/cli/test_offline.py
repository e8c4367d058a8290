"""The sandbox as the command line sees it: started, queried, stopped; its status as text."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox import lifecycle
from sandbox.identity import ProcessIdentity
from sandbox.kubernetes.controllers.running import Entry, State
from sandbox.lifecycle import SandboxStatus
from sandbox.official import EXECUTABLE, VARIABLE
from sandbox.state import SandboxState, save
from slipway.cli import offline
from slipway.cli.offline import Condition, ProcessStatus, Status
from spec.errors import SlipwayError
from tests.sandbox.test_shims import executable
from tests.slipway.conftest import Slipway
from tests.slipway.engine.fake import FakePulumi

# The sandbox as the CLI uses it, with the status that its own modules report.


ETCD, SERVER = ProcessIdentity("etcd", 11, "boot", 1), ProcessIdentity("kube-apiserver api-1", 12, "boot", 1)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SandboxState:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("SLIPWAY_SANDBOX_HOME", str(home))
    daemon = ProcessIdentity.of("daemon", os.getpid())
    return SandboxState(
        home, daemon, "http://127.0.0.1:5000", 7010, 7030, clusters={"slipway-dev": "https://127.0.0.1:6443"}
    )


def report(monkeypatch: pytest.MonkeyPatch, **facts: object) -> None:
    default: dict[str, object] = {"state": None, "running": False, "children": (), "dead_children": (), "memory": {}}
    status = SandboxStatus(**{**default, **facts})  # type: ignore[arg-type]
    monkeypatch.setattr(lifecycle, "status", lambda: status)


def test_a_running_sandbox_shows_its_processes_and_addresses(
    state: SandboxState, monkeypatch: pytest.MonkeyPatch, slipway: Slipway
) -> None:
    report(monkeypatch, state=state, running=True, children=(ETCD,), memory={"daemon": 2**20, "etcd": 2**21})
    data = json.loads(slipway("sandbox status --json").out)
    assert [process["name"] for process in data["processes"]] == ["daemon", "etcd"]
    assert data["memory"] == 3 * 2**20
    assert data["addresses"] == {"AWS (moto)": "http://127.0.0.1:5000", "slipway-dev": "https://127.0.0.1:6443"}


def test_a_sandbox_with_a_process_that_stays_dead_is_not_used(
    state: SandboxState, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(offline, "RESTART_SECONDS", 0.2)
    monkeypatch.setattr(offline, "LOOK_SECONDS", 0.01)
    report(monkeypatch, state=state, running=True, children=(ETCD,), dead_children=(SERVER,), memory={"etcd": 1})
    assert offline.status().condition is Condition.DAMAGED
    with pytest.raises(
        SlipwayError, match=r"damaged: kube-apiserver api-1 died .*run `slipway sandbox stop`.*deletes its AWS"
    ):
        offline.find_running()
    assert capsys.readouterr().err.count("kube-apiserver api-1 of the sandbox died; it is started again") == 1


def test_a_process_that_died_is_waited_for(state: SandboxState, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "LOOK_SECONDS", 0.01)
    dead = iter([(SERVER,), (SERVER,), ()])
    facts = {"state": state, "running": True, "children": (), "memory": {}}
    monkeypatch.setattr(lifecycle, "status", lambda: SandboxStatus(**facts, dead_children=next(dead)))  # type: ignore[arg-type]
    assert offline.find_running() is not None


def test_a_sandbox_that_does_not_answer_is_waited_for_and_then_reported(
    state: SandboxState, monkeypatch: pytest.MonkeyPatch, slipway: Slipway
) -> None:
    monkeypatch.setattr(offline, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(offline, "LOOK_SECONDS", 0.01)
    silent = ("daemon (pid 7) is stopped (SIGSTOP): `kill -CONT 7` lets it go on",)
    report(monkeypatch, state=state, running=True, memory={"daemon": 2**20}, silent=silent)
    with pytest.raises(SlipwayError, match=r"does not respond: daemon .pid 7. is stopped .*deletes its AWS resources"):
        offline.find_running()
    assert "sandbox: not responding" in slipway("sandbox status", code=1).out
    busy = iter([silent, silent, ()])
    facts = {"state": state, "running": True, "children": (), "dead_children": (), "memory": {}}
    monkeypatch.setattr(lifecycle, "status", lambda: SandboxStatus(**facts, silent=next(busy)))  # type: ignore[arg-type]
    assert offline.find_running() is not None


@pytest.mark.parametrize(
    ("with_state", "children", "condition"),
    [(True, (), Condition.STALE), (False, (ETCD,), Condition.STALE), (False, (), Condition.STOPPED)],
)
def test_leftovers_of_a_dead_daemon_are_stale(
    with_state: bool, children: tuple[ProcessIdentity, ...], condition: Condition,
    state: SandboxState, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    report(monkeypatch, state=state if with_state else None, children=children)
    assert offline.status().condition is condition
    assert offline.find_running() is None


@pytest.mark.parametrize("arguments", [["env"], ["env", "--json"]])
def test_a_stopped_sandbox_has_no_environment(
    arguments: list[str], state: SandboxState, monkeypatch: pytest.MonkeyPatch, slipway: Slipway
) -> None:
    report(monkeypatch)
    captured = slipway("sandbox", *arguments, code=1)
    assert captured.out == ""
    assert "the sandbox is not running: start it with `slipway sandbox start`" in captured.err


def test_env_creates_the_stacks_of_the_checkout(
    checkout: Path, fake: FakePulumi, sandbox: offline.Sandbox, slipway: Slipway
) -> None:
    variables = json.loads(slipway("sandbox env --json").out)
    assert variables["AWS_ENDPOINT_URL"] == "http://127.0.0.1:5000"
    # By default the account of the first stack.
    assert variables["AWS_ACCESS_KEY_ID"] == "session of 111122223333 at http://127.0.0.1:5000"
    created = [call["arguments"][call["arguments"].index("--stack") + 1] for call in fake.calls]
    assert created == ["dev", "prod", "staging"]
    assert Path(variables["PATH"].split(os.pathsep)[0], "pulumi").exists()


def test_env_can_use_the_account_of_another_stack(checkout: Path, sandbox: offline.Sandbox, slipway: Slipway) -> None:
    assert "session of 444455556666" in json.loads(slipway("sandbox env prod --json").out)["AWS_ACCESS_KEY_ID"]


def test_a_stack_file_that_cannot_be_copied_is_skipped_with_a_warning(
    checkout: Path, fake: FakePulumi, sandbox: offline.Sandbox, slipway: Slipway
) -> None:
    (checkout / "stacks/Pulumi.prod.yaml").write_text("- not\n- a stack file\n")
    captured = slipway("sandbox env")
    assert "warning: " in captured.err
    assert "Pulumi.prod.yaml" in captured.err
    assert captured.out.startswith("unset ") or captured.out.startswith("export ")


def test_a_running_sandbox_is_reused_and_never_reconfigured(
    state: SandboxState, monkeypatch: pytest.MonkeyPatch, slipway: Slipway
) -> None:
    report(monkeypatch, state=state, running=True)
    save(state)
    monkeypatch.setattr("sandbox.toolchain.ensure", Path)
    monkeypatch.setattr("sandbox.language.shims.install_shims", lambda _: pytest.fail("shims of a running sandbox"))
    assert "is already running" in slipway("sandbox start").out


def test_the_official_provider_is_chosen_by_a_variable(
    state: SandboxState, monkeypatch: pytest.MonkeyPatch, slipway: Slipway
) -> None:
    report(monkeypatch, state=state, running=True)
    save(state)
    monkeypatch.setattr("sandbox.toolchain.ensure", Path)
    provider = executable(state.home / "plugins" / EXECUTABLE)
    monkeypatch.setenv(VARIABLE, str(provider))
    message = f"already runs with a Kubernetes provider of its own, not with {provider}: run `slipway sandbox stop`"
    assert message in slipway("sandbox start", code=1).err
    save(replace(state, official=str(provider)))
    slipway("sandbox start")


def test_a_sandbox_without_the_pulumi_cli_is_reported_with_a_fix(sandbox: offline.Sandbox) -> None:
    broken = offline.Sandbox(sandbox.home, {**sandbox.variables, "PATH": "/nowhere"}, sandbox.kubeconfig)
    with pytest.raises(SlipwayError, match="no `pulumi` on the sandbox's PATH"):
        broken.engine({})


# The sandbox's status as text and JSON.


DAEMON = ProcessStatus("daemon", 10, 100 * 2**20)
ETCD_STATUS = ProcessStatus("etcd", 11, 50 * 2**20)
DEAD = ProcessStatus("kube-apiserver dev", 12, None)
HOME = Path("/home/me/sandbox")


def test_memory_is_the_total_of_all_processes() -> None:
    status = Status(Condition.RUNNING, HOME, [DAEMON, ETCD_STATUS], {"moto": "http://127.0.0.1:5000"})
    assert status.memory == 150 * 2**20
    assert status.healthy
    text = status.text()
    assert "memory: 150 MiB in total" in text
    assert "moto: http://127.0.0.1:5000" in text


def test_a_dead_process_is_reported_with_a_fix() -> None:
    status = Status(Condition.DAMAGED, HOME, [DAEMON, DEAD])
    assert not status.healthy
    assert status.dead == ["kube-apiserver dev"]
    assert "ended" in status.text()
    assert "kube-apiserver dev died (logs in /home/me/sandbox/logs). It is started again with" in status.text()
    assert "run `slipway sandbox stop`, then start it again; that deletes its AWS resources" in status.text()


@pytest.mark.parametrize("condition", [Condition.STOPPED, Condition.STALE])
def test_a_sandbox_that_is_not_running_is_not_healthy(condition: Condition) -> None:
    status = Status(condition, HOME)
    assert not status.healthy
    assert status.text().startswith(f"sandbox: {condition}")


def test_controllers_are_listed_with_their_state_and_log() -> None:
    entries = [
        Entry("api-1", "kueue", "0.19.2", State.RUNNING, log="/logs/kueue-api-1.log"),
        Entry("api-1", "jobset", "0.12.0", State.BUILDING, "progress in /logs/build-jobset.log"),
    ]
    status = Status(Condition.RUNNING, HOME, [DAEMON], controllers=entries)
    assert status.text().splitlines()[-3:] == [
        "controllers of add-ons:",
        "  kueue 0.19.2 runs (log /logs/kueue-api-1.log)",
        "  jobset 0.12.0 is being built: progress in /logs/build-jobset.log",
    ]
    assert json.loads(json.dumps(status.as_data()))["controllers"][0]["state"] == "runs"


def test_the_status_can_be_serialized_as_json() -> None:
    data = json.loads(json.dumps(Status(Condition.RUNNING, HOME, [DAEMON, DEAD]).as_data()))
    assert data["condition"] == "running"
    assert data["processes"][1] == {"name": "kube-apiserver dev", "pid": 12, "memory": None}
