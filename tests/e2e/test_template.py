"""The template of `pulumi new`: a project that uses a clone of Slipway, checked and previewed in the sandbox."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.e2e.world import REPOSITORY, World, counts
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox

TEMPLATE: Final = "slipway-source/templates/platform"


@pytest.fixture(scope="module")
def project(world: World, tmp_path_factory: pytest.TempPathFactory) -> World:
    """What the commands of docs/guides/elsewhere.md make, in a shell of the sandbox."""
    directory = tmp_path_factory.mktemp("project")
    (directory / "slipway-source").symlink_to(REPOSITORY)
    world.succeed("sandbox", "start")
    shell = {**world.environment, **json.loads(world.succeed("sandbox", "env", "--json"))}
    done = subprocess.run(
        ["pulumi", "new", TEMPLATE, "--generate-only", "--force", "--yes", "--non-interactive"],
        cwd=directory, env=shell, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    # The sandbox of these tests has another stack dev.
    text = (directory / "stacks" / "Pulumi.dev.yaml").read_text(encoding="utf-8").replace("name: dev,", "name: fresh,")
    (directory / "stacks" / "Pulumi.fresh.yaml").write_text(text, encoding="utf-8")
    return replace(world, checkout=directory)


def test_the_new_project_has_the_settings_of_the_engine_that_slipway_has(project: World) -> None:
    ours, theirs = (yaml.safe_load((at / "Pulumi.yaml").read_text()) for at in (REPOSITORY, project.checkout))
    assert theirs["name"] == ours["name"]
    assert theirs["stackConfigDir"] == ours["stackConfigDir"]
    assert ours["config"].items() <= theirs["config"].items()
    assert (project.checkout / theirs["main"]).samefile(REPOSITORY / ours["main"])
    assert (project.checkout / theirs["runtime"]["options"]["virtualenv"]).parent.samefile(REPOSITORY)


def test_the_new_project_passes_the_checks_and_the_policies(project: World) -> None:
    assert "stack dev: valid." in project.succeed("check", "dev", "--strict")
    assert "0 mandatory and 0 advisory findings" in project.succeed("policies", "dev")


def test_the_sandbox_previews_the_new_project(project: World) -> None:
    done = project.succeed("preview", "fresh", "--sandbox")
    assert counts(done).keys() == {"to create"}
    assert counts(done)["to create"] > 200
    assert "team research" in done


def test_the_schema_for_editors_is_found(project: World) -> None:
    path = project.checkout / "stacks" / "Pulumi.dev.yaml"
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert Path(path.parent, first.partition("$schema=")[2]).is_file()
