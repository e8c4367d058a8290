"""A patched module: the argument of go, its copy, and errors."""

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from sandbox.errors import AttemptError
from sandbox.toolchain import cache, patched
from sandbox.toolchain.tools import GoBuild, Tool, get
from tests.sandbox.toolchain.conftest import WriteScript
from tests.support.cases import beside

CASES: Final = beside(__file__)
PATCH = CASES["patch"]
SOURCE = 'package pkg\n\nconst Greeting = "hello"\n'


@pytest.fixture
def build(machine: Path, gadget: Tool, script: WriteScript) -> GoBuild:
    """A module with a patch of another that Go has, read-only as in its cache."""
    source = machine / "mod" / "example.org" / "greeting@v1.0.0"
    (source / "pkg").mkdir(parents=True)
    (source / "pkg" / "greeting.go").write_text(SOURCE)
    (source / "pkg" / "greeting.go").chmod(0o444)
    (source / "pkg").chmod(0o555)
    answer = machine / "answer.json"
    answer.write_text(json.dumps({"Dir": str(source)}))
    script(machine / "bin" / "go", f'[ "$1 $2 $3 $4" = "mod download -json example.org/greeting" ] && cat "{answer}"')
    assert gadget.go is not None
    folder = gadget.go.directory
    (folder / "go.sum").write_text("example.org/greeting v1.0.0 h1:sum=\n")
    (folder / "greeting").mkdir()
    (folder / "greeting" / "1-short.patch").write_text(PATCH.replace("\n\n-", "\n \n-"))
    return replace(gadget.go, version_of="example.org/greeting")


def test_go_takes_a_copy_with_the_patch_for_one_build(build: GoBuild, machine: Path) -> None:
    with patched.arguments(build, machine / "bin" / "go", os.environ) as (argument,):
        modfile = Path(argument.removeprefix("-modfile="))
        copy = modfile.with_name("source")
        assert (copy / "pkg" / "greeting.go").read_text() == SOURCE.replace("hello", "hi")
        assert modfile.read_text().endswith(f'\nreplace example.org/greeting => "{copy}"\n')
        assert modfile.read_text().startswith((build.directory / "go.mod").read_text())
        assert modfile.with_name("go.sum").read_text() == (build.directory / "go.sum").read_text()
    assert not modfile.parent.exists()
    # Go's cache knows what it compiled by the path of its source.
    with patched.arguments(build, machine / "bin" / "go", os.environ) as again:
        assert again == [argument]
    assert (machine / "mod" / "example.org" / "greeting@v1.0.0" / "pkg" / "greeting.go").read_text() == SOURCE


def test_a_repository_around_the_copy_and_settings_of_git_change_nothing(
    build: GoBuild, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    around = machine / "around"
    around.mkdir()
    subprocess.run(["git", "init", "--quiet", around], check=True)
    (machine / ".gitconfig").write_text("[apply]\n\twhitespace = error-all\n")
    monkeypatch.setenv("HOME", str(machine))
    monkeypatch.setenv("SLIPWAY_CACHE", str(around))
    with patched.arguments(build, machine / "bin" / "go", os.environ) as (argument,):
        copy = Path(argument.removeprefix("-modfile=")).with_name("source")
        assert copy.is_relative_to(around)
        assert "hi" in (copy / "pkg" / "greeting.go").read_text()


def test_patches_are_applied_in_their_order(build: GoBuild, machine: Path) -> None:
    first = (build.directory / "greeting" / "1-short.patch").read_text()
    (build.directory / "greeting" / "2-loud.patch").write_text(first.replace('"hi"', '"HI"').replace('"hello"', '"hi"'))
    with patched.arguments(build, machine / "bin" / "go", os.environ) as (argument,):
        copy = Path(argument.removeprefix("-modfile=")).with_name("source")
        assert "HI" in (copy / "pkg" / "greeting.go").read_text()


def test_without_a_patch_there_is_no_argument(build: GoBuild, machine: Path) -> None:
    (build.directory / "greeting" / "1-short.patch").unlink()
    (machine / "bin" / "go").unlink()
    with patched.arguments(build, machine / "bin" / "go", os.environ) as more:
        assert more == []


def test_a_changed_patch_is_another_binary(build: GoBuild) -> None:
    own = replace(build, package="slipway.local/tools/gadget")
    before = own.digest
    (build.directory / "greeting" / "2-more.patch").write_text(PATCH)
    assert own.digest != before


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("patch", "patch does not apply"),
        ("download", "go mod download -json example.org/greeting` failed: no such host"),
        ("git", "can't start git: No such file or directory"),
    ],
)
def test_what_goes_wrong_is_said(
    build: GoBuild, machine: Path, script: WriteScript, monkeypatch: pytest.MonkeyPatch, wrong: str, said: str
) -> None:
    if wrong == "patch":
        patch = build.directory / "greeting" / "1-short.patch"
        patch.write_text(patch.read_text().replace("hello", "good day"))
    elif wrong == "download":
        script(machine / "bin" / "go", "echo no such host >&2; exit 1")
    else:
        for name in ("sh", "cat"):
            (machine / "bin" / name).symlink_to(str(shutil.which(name)))
        monkeypatch.setenv("PATH", str(machine / "bin"))
    with pytest.raises(AttemptError, match=said), patched.arguments(build, machine / "bin" / "go", os.environ):
        pytest.fail("not reached")


LIST = CASES["list of packages"]
CLIENTS = CASES["clients"]
CUT = "list: all/list.go\npackages: service/\nkeep: [{keep}]\ncallable: conns/clients.go\n"


def cuttable(build: GoBuild, machine: Path, keep: str) -> GoBuild:
    source = machine / "mod" / "example.org" / "greeting@v1.0.0"
    source.chmod(0o755)
    imported = 'import _ "example.org/greeting/{}"\n'
    texts = {
        "main.go": "package main\n" + imported.format("all"),
        "all/list.go": LIST,
        "conns/clients.go": CLIENTS,
        "service/one/one.go": "package one\n" + imported.format("conns") + "var Made = meta.One()\n",
        "service/two/two.go": "package two\n" + imported.format("conns") + "var Made = meta.Two()\n",
        "service/one/one_test.go": "package one\nvar Tested = meta.Two()\n",
    }
    for name, text in texts.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    (build.directory / "greeting" / "1-short.patch").unlink()
    build.cut.write_text(CUT.format(keep=keep))
    return build


def test_a_cut_leaves_the_packages_that_are_kept_and_what_they_call(build: GoBuild, machine: Path) -> None:
    with patched.arguments(cuttable(build, machine, "one"), machine / "bin" / "go", os.environ) as (argument,):
        copy = Path(argument.removeprefix("-modfile=")).with_name("source")
        assert (copy / "all" / "list.go").read_text() == "".join(
            line for line in LIST.splitlines(keepends=True) if "two" not in line
        )
        clients = (copy / "conns" / "clients.go").read_text()
        assert "One()" in clients
        assert "sdk/one" in clients
        assert "two" not in clients.lower()


def test_a_cut_that_does_not_fit_the_version_is_said(build: GoBuild, machine: Path) -> None:
    wanted = cuttable(build, machine, "one, three")
    with (
        pytest.raises(AttemptError, match="lists no three"),
        patched.arguments(wanted, machine / "bin" / "go", os.environ),
    ):
        pytest.fail("not reached")
    wanted.cut.write_text(CUT.format(keep="one").replace("clients.go", "others.go"))
    with (
        pytest.raises(AttemptError, match=r"others\.go: No such"),
        patched.arguments(wanted, machine / "bin" / "go", {}),
    ):
        pytest.fail("not reached")


def test_a_changed_cut_is_another_binary(build: GoBuild) -> None:
    before = build.digest
    build.cut.write_text(CUT.format(keep="one"))
    assert build.digest != before


def test_the_cli_that_is_built_says_what_it_leaves_out(tmp_path: Path) -> None:
    """Whoever runs it with the state or the keys of an account learns which CLI has them."""
    cli = cache.binary(get("pulumi"))
    if not cli.exists():
        pytest.skip("pulumi is not built: `python -m sandbox.toolchain ensure pulumi` builds it")
    (tmp_path / "Pulumi.yaml").write_text("name: sample\nruntime: yaml\n")
    environment = {**os.environ, "PULUMI_HOME": str(tmp_path / "home"), "PULUMI_SKIP_UPDATE_CHECK": "true"}

    def answer(*arguments: str, backend: str) -> str:
        run = subprocess.run(
            [cli, *arguments, "--non-interactive"], cwd=tmp_path, capture_output=True, text=True, check=False,
            env={**environment, "PULUMI_BACKEND_URL": backend},
        )  # fmt: skip
        assert run.returncode
        return run.stderr

    assert "leaves out the back ends of clouds: install Pulumi's release for s3://" in answer(
        "stack", "ls", backend="s3://bucket"
    )
    new = answer("stack", "init", "dev", "--secrets-provider", "awskms://alias/key", backend=tmp_path.as_uri())
    assert "leaves out the keys of clouds: install Pulumi's release for awskms://alias/key" in new
