"""The wheel has the whole tree, and each part of it answers in a clean environment, outside of the clone (ADR 0142)."""

import time
import zipfile
from pathlib import Path
from typing import Final

import pytest
import yaml

from policies import pack, suppressions
from slipway.cli.pack import SUPPRESSIONS
from tests.support.installed import ROOT, SHIPPED, Installed, build

FIRST_ANSWER: Final = 60
"""Seconds, on a busy machine, too: without the download it takes 1 s on an idle one (2026-11)."""
FIT: Final = ("slipway", "fit", "--model", "llama-3.1-8b", "--mode", "serve", "--batch", "8", "--seq", "8192")
JOB: Final = "{apiVersion: batch/v1, kind: Job, metadata: {name: a}}"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def base(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed.make(wheel, tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def whole(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed.make(wheel, tmp_path_factory.mktemp("whole"), "policies", "sandbox")


def test_the_wheel_has_every_file_of_the_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    tree = {
        path.relative_to(ROOT).as_posix()
        for name in SHIPPED
        for path in (ROOT / name).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert packed == tree, "list new kinds of files in [tool.setuptools.package-data] of pyproject.toml"


def test_the_wheel_has_the_command_and_the_license(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        text = {name.rpartition("/")[2]: archive.read(name).decode() for name in archive.namelist() if "info/" in name}
    assert "slipway = slipway.cli:main" in text["entry_points.txt"]
    assert "License-Expression: Apache-2.0\n" in text["METADATA"]
    assert text["LICENSE"] == (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_fit_answers_without_a_clone_and_without_extras(base: Installed) -> None:
    began = time.monotonic()
    done = base.run(*FIT)
    assert done.returncode == 0, done.stderr
    assert "g6e.xlarge" in done.stdout
    assert time.monotonic() - began < FIRST_ANSWER
    where = base.run("python", "-c", "import slipway; print(slipway.__file__)").stdout
    assert where.startswith(str(base.environment)), "not the clone's"


def test_why_says_what_it_needs_to_answer_for_a_file(base: Installed) -> None:
    (base.folder / "job.yaml").write_text(JOB, encoding="utf-8")
    done = base.run("slipway", "why", "job.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("slipway: there is no kubeconfig: name a stack with --stack, set KUBECONFIG, or ")
    assert done.stderr.endswith("with --sandbox\n")


@pytest.mark.parametrize(
    ("words", "part"),
    [(("policies", "--pack", "x"), "policies"), (("sandbox", "start"), "sandbox"), (("policies", "dev"), "policies")],
)
def test_a_command_of_another_part_names_it(base: Installed, words: tuple[str, ...], part: str) -> None:
    done = base.run("slipway", *words)
    assert done.returncode == 2
    assert done.stderr.rstrip().endswith(f"install slipway[{part}]")


@pytest.mark.parametrize(
    ("words", "next_step"),
    [
        ("check dev", "run this inside a checkout\n"),
        ("preview dev --sandbox", "stack file `slipway sandbox run -- pulumi preview --stack NAME`\n"),
        ("rehearse dev . -n vision", "run this inside a checkout\n"),
        ("report dev --out out", "`slipway sandbox run -- pulumi preview --stack NAME --diff`\n"),
    ],
)
def test_the_platform_needs_its_repository(whole: Installed, words: str, next_step: str) -> None:
    """A command that has an equal without a stack file names it, in one line."""
    (whole.folder / "job.yaml").write_text(JOB, encoding="utf-8")
    done = whole.run("slipway", *words.split())
    assert done.returncode == 2
    assert done.stderr.endswith(next_step)
    assert done.stderr.count("\n") == 1
    assert "run this inside a checkout" in done.stderr


def test_the_demo_answers_as_the_readme_shows(whole: Installed) -> None:
    """Without a clone, an account or Go."""
    done = whole.run("slipway", "init", "--demo", PATH="/usr/bin:/bin")
    assert done.returncode == 0, done.stderr
    shown = (ROOT / "README.md").read_text(encoding="utf-8").partition("```text\n")[2].partition("```")[0]
    assert " ".join(shown.split()) in " ".join(done.stdout.split())
    assert "GPUs" in (whole.folder / "slipway-demo" / "out" / "index.html").read_text(encoding="utf-8")


def test_the_pack_is_a_folder_that_keeps_its_suppressions(wheel: Path, tmp_path: Path) -> None:
    installed = Installed.make(wheel, tmp_path, "policies")
    done = installed.run("slipway", "policies", "--pack", "pack")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("pulumi preview --policy-pack pack\n")
    described = yaml.safe_load((installed.folder / "pack" / "PulumiPolicy.yaml").read_text(encoding="utf-8"))
    assert described["runtime"]["options"]["virtualenv"] == str(installed.environment)
    (installed.folder / "pack" / "suppressions.yaml").write_text("- {rule: no-such-rule}\n", encoding="utf-8")
    again = installed.run("slipway", "policies", "--pack", "pack")
    assert again.returncode == 2
    assert again.stderr.startswith("slipway: pack: suppressions.yaml: [0] must have exactly the keys")


def test_the_example_of_a_suppression_is_valid() -> None:
    lines = [line.removeprefix("#").removeprefix(" ") for line in SUPPRESSIONS.splitlines()[1:-1]]
    (entry,) = suppressions.parse(yaml.safe_load("\n".join(lines)), pack.identities()).all
    assert entry.owner == "data-team"
