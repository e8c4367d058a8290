"""The backend on AWS: where the Pulumi CLI would keep a stack's state."""

import json
from pathlib import Path

import pytest

from slipway.engine.backend import Backend, copies, current, folder
from slipway.engine.project import Project


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
def test_a_backend_in_a_folder_has_copies_outside_of_it(
    url: str, place: str, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    found = copies(project, "dev", {"PULUMI_BACKEND_URL": url}, tmp_path / "states")
    assert found is not None
    assert str(found.backend) == place.format(home=tmp_path, root=project.root)
    assert found.folder.parent.parent == tmp_path / "states"
    assert not found.folder.is_relative_to(found.backend)
    assert found.recover == "slipway recover dev"


@pytest.mark.parametrize("url", ["s3://state", "https://api.pulumi.com", ""])
def test_other_backends_have_none(url: str, project: Project, tmp_path: Path) -> None:
    assert copies(project, "dev", {"PULUMI_BACKEND_URL": url, "HOME": str(tmp_path)}, tmp_path) is None
