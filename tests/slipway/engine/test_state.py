"""Reading a stack's state."""

import json
import os
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from slipway.engine.backend import Backend, current, folder, stored
from slipway.engine.project import Project, find
from slipway.engine.stacks import Overlay, SandboxEngine
from slipway.engine.state import StackResource, parse
from spec.errors import EXIT_REFUSED, SlipwayError
from spec.naming import PROJECT
from spec.settings import PROJECT as PROGRAM
from spec.settings.source import read_stack
from tests.slipway.engine.fake import FakePulumi, exported, resource
from tests.slipway.engine.test_process import dead_pid, write_lock

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"


def test_protected_resources_and_pending_operations_are_read() -> None:
    state = parse(
        exported(
            resource(VPC, "network-vpc", protect=True),
            resource(SUBNET, "network-private-a"),
            pending=[{"type": "creating", "resource": resource(SUBNET, "network-private-b")}],
        )
    )
    assert [one.name for one in state.protected] == ["network-vpc"]
    assert state.pending == (f"creating urn:pulumi:dev::slipway::{SUBNET}::network-private-b",)


def test_what_a_program_only_reads_is_not_its_own() -> None:
    state = parse(exported(resource(VPC, "main", external=True), resource(SUBNET, "a")))
    assert [one.name for one in state.existing] == ["a"]


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        (VPC, "ec2 Vpc"),
        ("kubernetes:karpenter.sh/v1:NodePool", "kubernetes NodePool"),
        ("kubernetes:helm.sh/v3:Release", "kubernetes Release"),
        ("pulumi:providers:aws", "provider aws"),
        ("slipway:network:Network", "slipway Network"),
    ],
)
def test_a_type_token_is_shown_as_service_and_kind(token: str, kind: str) -> None:
    assert StackResource(urn="urn:pulumi:dev::slipway::x::y", type=token).kind == kind


@pytest.mark.parametrize("document", ['{"version": 3, "deployment": {}}', '{"version": 3, "deployment": null}'])
def test_a_stack_that_was_never_brought_up_is_empty(document: str) -> None:
    assert parse(document).resources == ()


@pytest.mark.parametrize("document", ["", "[]", "{}", '{"deployment": {"resources": [{"type": "x"}]}}', "error: no"])
def test_a_document_that_is_not_an_export_is_refused(document: str) -> None:
    with pytest.raises(SlipwayError, match="not a stack's state"):
        parse(document)


# The backend on AWS: where the Pulumi CLI would keep a stack's state.


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "checkout"
    (root / "stacks").mkdir(parents=True)
    (root / "Pulumi.yaml").write_text("name: slipway\n")
    (root / "stacks/Pulumi.dev.yaml").write_text("secretsprovider: awskms://alias/pulumi-dev\nconfig: {}\n")
    return Project(root)


def logged_in(home: Path, url: str) -> dict[str, str]:
    (home / ".pulumi").mkdir()
    (home / ".pulumi/credentials.json").write_text(json.dumps({"current": url}))
    return {"HOME": str(home)}


def test_without_a_login_there_is_no_backend(project: Project, tmp_path: Path) -> None:
    assert current(project, "dev", {"HOME": str(tmp_path)}) == Backend("", "awskms://alias/pulumi-dev")


def test_the_variable_precedes_the_project_which_precedes_the_login(project: Project, tmp_path: Path) -> None:
    environment = logged_in(tmp_path, "s3://login")
    assert current(project, "dev", environment).url == "s3://login"
    (project.root / "Pulumi.yaml").write_text("name: slipway\nbackend: {url: s3://project}\n")
    assert current(project, "dev", environment).url == "s3://project"
    assert current(project, "dev", {**environment, "PULUMI_BACKEND_URL": "s3://variable"}).url == "s3://variable"


def test_a_damaged_login_counts_as_none(project: Project, tmp_path: Path) -> None:
    environment = logged_in(tmp_path, "s3://login")
    (tmp_path / ".pulumi/credentials.json").write_text("{")
    assert current(project, "dev", environment).url == ""


@pytest.mark.parametrize("url", ["file:///home/me/state", "file:///home/me/state?metadata=skip&no_tmp_dir=true"])
def test_the_folder_of_a_file_backend_has_no_options(url: str) -> None:
    assert folder(url) == Path("/home/me/state")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("file:///srv/state?metadata=skip", "/srv/state"),
        ("file://~/state", "{home}/state"),
        ("file://state", "{root}/state"),
    ],
)
def test_the_state_of_a_backend_in_a_folder_is_there(
    url: str, place: str, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    found = stored(project, "dev", {"PULUMI_BACKEND_URL": url})
    assert found is not None
    assert str(found.backend) == place.format(home=tmp_path, root=project.root)


@pytest.mark.parametrize("url", ["s3://state", "https://api.pulumi.com", ""])
def test_other_backends_have_none(url: str, project: Project, tmp_path: Path) -> None:
    assert stored(project, "dev", {"PULUMI_BACKEND_URL": url, "HOME": str(tmp_path)}) is None


# The stacks of the sandbox's backend: their files and states.


# The sandbox's copies of the stack files.


COMMITTED = """\
# yaml-language-server: $schema=schema.json
config:
  slipway:platform:
    account: {id: "011122223333"}
    answer: yes
"""


@pytest.fixture
def overlay(tmp_path: Path) -> Overlay:
    overlay = Overlay(tmp_path / "home" / "project")
    overlay.make()
    return overlay


@pytest.fixture
def committed_file(tmp_path: Path) -> Path:
    path = tmp_path / "Pulumi.dev.yaml"
    path.write_text(COMMITTED)
    return path


def test_a_copy_is_the_text_of_the_committed_file(overlay: Overlay, committed_file: Path) -> None:
    copy = overlay.copy(committed_file)
    assert copy.parent == overlay.stacks
    assert copy.read_text() == COMMITTED
    assert committed_file.read_text() == COMMITTED


def test_an_updated_copy_keeps_the_salt_that_the_engine_added(overlay: Overlay, committed_file: Path) -> None:
    copy = overlay.copy(committed_file)
    copy.write_text(copy.read_text() + "encryptionsalt: v1:sandbox\n")
    committed_file.write_text(COMMITTED + "    more: 1\n")
    assert overlay.copy(committed_file).read_text() == COMMITTED + "    more: 1\nencryptionsalt: v1:sandbox\n"


def test_secrets_settings_of_a_real_backend_are_left_out_of_the_copy(overlay: Overlay, committed_file: Path) -> None:
    committed_file.write_text(f"encryptionsalt: v1:real\n{COMMITTED}secretsprovider: awskms://k\nencryptedkey: QUJD\n")
    assert overlay.copy(committed_file).read_text() == COMMITTED


@pytest.mark.parametrize("text", ["{config: {a: b}}\n", "- config\n", "config\n", "config:\n\t- x\n"])
def test_a_file_to_which_the_engine_cannot_add_its_salt_is_refused(
    overlay: Overlay, committed_file: Path, text: str
) -> None:
    committed_file.write_text(text)
    with pytest.raises(SlipwayError, match=r"Pulumi\.dev\.yaml: write the stack file as a block mapping") as caught:
        overlay.copy(committed_file)
    assert caught.value.exit_code == EXIT_REFUSED
    assert not (overlay.stacks / committed_file.name).exists()


def test_a_missing_stack_file_is_refused(overlay: Overlay, tmp_path: Path) -> None:
    with pytest.raises(SlipwayError, match="can't be read"):
        overlay.copy(tmp_path / "Pulumi.none.yaml")


@pytest.mark.parametrize("stack", ["dev", "staging", "prod"])
def test_copies_of_the_projects_own_stack_files_have_the_same_settings(overlay: Overlay, stack: str) -> None:
    project = find(Path(__file__))
    assert stack in project.stack_names
    copy = overlay.copy(project.stacks / f"Pulumi.{stack}.yaml")
    assert read_stack(stack, copy.parent) == read_stack(stack, project.stacks)


def test_stacks_are_found_under_the_name_of_the_program(overlay: Overlay) -> None:
    project = find(Path(__file__))
    real = yaml.safe_load((project.root / "Pulumi.yaml").read_text())
    ours = yaml.safe_load((overlay.root / "Pulumi.yaml").read_text())
    assert real["name"] == ours["name"] == PROJECT == PROGRAM
    assert real["stackConfigDir"] == ours["stackConfigDir"]


# The stacks of the sandbox's backend, against a CLI that records its calls.


@pytest.fixture
def engine(tmp_path: Path, fake: FakePulumi) -> SandboxEngine:
    backend = tmp_path / "backend"
    environment = {"PATH": os.environ["PATH"], "PULUMI_BACKEND_URL": f"file://{backend}"}
    return SandboxEngine(fake.path, environment, backend, Overlay(tmp_path / "project"))


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    folder = tmp_path / "stacks"
    folder.mkdir()
    (folder / "Pulumi.dev.yaml").write_text("config:\n  slipway:platform: {}\n")
    return folder


def test_a_stack_is_created_once_and_the_committed_file_is_unchanged(
    engine: SandboxEngine, fake: FakePulumi, committed: Path
) -> None:
    before = (committed / "Pulumi.dev.yaml").read_text()
    first = engine.prepare(committed, "dev")
    second = engine.prepare(committed, "dev")
    assert first == second
    assert "encryptionsalt" in first.read_text()
    assert (committed / "Pulumi.dev.yaml").read_text() == before
    assert [call["arguments"][:2] for call in fake.calls] == [["stack", "select"]]
    assert fake.calls[0]["directory"] == str(engine.overlay.root)


def test_the_state_of_a_missing_stack_is_empty_without_a_call_of_the_cli(
    engine: SandboxEngine, fake: FakePulumi
) -> None:
    assert engine.state("dev").resources == ()
    assert fake.calls == []


def test_the_state_is_what_the_engine_exports(engine: SandboxEngine, fake: FakePulumi, committed: Path) -> None:
    engine.prepare(committed, "dev")
    fake.tell("export", exported(resource("aws:ec2/vpc:Vpc", "network-vpc")))
    assert [one.name for one in engine.state("dev").resources] == ["network-vpc"]


def test_a_lock_of_a_dead_run_is_removed_and_reported(engine: SandboxEngine, fake: FakePulumi, committed: Path) -> None:
    engine.prepare(committed, "dev")
    write_lock(engine.backend, pid := dead_pid(), datetime.now(UTC))
    messages: list[str] = []
    engine.free("dev", messages.append)
    assert fake.calls[-1]["arguments"][:1] == ["cancel"]
    assert len(messages) == 1
    assert f"process {pid}" in messages[0]
    engine.free("dev", messages.append)
    assert len(messages) == 1


def test_a_stack_locked_by_a_live_run_is_refused(engine: SandboxEngine, fake: FakePulumi) -> None:
    with fake.running() as pid:
        write_lock(engine.backend, pid, datetime.now(UTC))
        with pytest.raises(SlipwayError, match=rf"in use by another run .process {pid} .*: wait for it to end"):
            engine.free("dev", print)
        os.kill(pid, signal.SIGSTOP)
        os.waitpid(pid, os.WUNTRACED)  # a signal is delivered when the process is scheduled next
        with pytest.raises(SlipwayError, match=rf"it is stopped .SIGSTOP.; `kill -CONT {pid}` lets it go on"):
            engine.free("dev", print)
    assert [call["arguments"] for call in fake.calls] == [["up"]]


def test_one_live_lock_among_dead_ones_keeps_them_all(engine: SandboxEngine, fake: FakePulumi) -> None:
    with fake.running() as pid:
        write_lock(engine.backend, dead_pid(), datetime.now(UTC), name="a")
        write_lock(engine.backend, pid, datetime.now(UTC), name="b")
        with pytest.raises(SlipwayError):
            engine.free("dev", print)
    assert [call["arguments"] for call in fake.calls] == [["up"]]
