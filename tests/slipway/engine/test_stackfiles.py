"""The sandbox's copies of the stack files."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from slipway.engine.project import find
from slipway.engine.stackfiles import PROJECT, Overlay
from spec.errors import EXIT_REFUSED, SlipwayError
from spec.settings import PROJECT as PROGRAM
from spec.settings.source import read_stack

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
def committed(tmp_path: Path) -> Path:
    path = tmp_path / "Pulumi.dev.yaml"
    path.write_text(COMMITTED)
    return path


def test_a_copy_is_the_text_of_the_committed_file(overlay: Overlay, committed: Path) -> None:
    copy = overlay.copy(committed)
    assert copy.parent == overlay.stacks
    assert copy.read_text() == COMMITTED
    assert committed.read_text() == COMMITTED


def test_an_updated_copy_keeps_the_salt_that_the_engine_added(overlay: Overlay, committed: Path) -> None:
    copy = overlay.copy(committed)
    copy.write_text(copy.read_text() + "encryptionsalt: v1:sandbox\n")
    committed.write_text(COMMITTED + "    more: 1\n")
    assert overlay.copy(committed).read_text() == COMMITTED + "    more: 1\nencryptionsalt: v1:sandbox\n"


def test_secrets_settings_of_a_real_backend_are_left_out_of_the_copy(overlay: Overlay, committed: Path) -> None:
    committed.write_text(f"encryptionsalt: v1:real\n{COMMITTED}secretsprovider: awskms://k\nencryptedkey: QUJD\n")
    assert overlay.copy(committed).read_text() == COMMITTED


@pytest.mark.parametrize("text", ["{config: {a: b}}\n", "- config\n", "config\n", "config:\n\t- x\n"])
def test_a_file_to_which_the_engine_cannot_add_its_salt_is_refused(
    overlay: Overlay, committed: Path, text: str
) -> None:
    committed.write_text(text)
    with pytest.raises(SlipwayError, match=r"Pulumi\.dev\.yaml: write the stack file as a block mapping") as caught:
        overlay.copy(committed)
    assert caught.value.exit_code == EXIT_REFUSED
    assert not (overlay.stacks / committed.name).exists()


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
