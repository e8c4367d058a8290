"""What `slipway sandbox run` does around a command; tests/e2e/test_any_program.py runs real ones."""

from argparse import Namespace
from pathlib import Path

import pytest
import yaml

from slipway.cli import sandbox_run
from slipway.cli.sandbox_run import SECRET, copied, nearest
from spec.errors import SlipwayError


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
    text = """\
secretsprovider: awskms://alias/x
encryptedkey: AQ==
config:
  app:size: 3
  app:token: {secure: v1:a}
  app:users:
  - name: jo
    key: {secure: v1:b}
"""
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
