"""A program runs in the environment that its Pulumi.yaml names, with the SDK that it has there."""

import os
import site
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from pulumi.runtime.proto import language_pb2

from sandbox.language.environments import Environment
from tests.sandbox.test_language import Project

PROGRAM = """
    import sys
    import only_here
    import pulumi
    from pulumi.dynamic import CreateResult, Resource, ResourceProvider

    class Says(ResourceProvider):
        def create(self, props):
            import only_here
            return CreateResult("1", {"value": only_here.__file__})

    class Said(Resource):
        value: pulumi.Output[str]

    pulumi.export("where", [sys.prefix, Said(Says(), "said", {"value": None}).value])
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project of an environment of its own, with a module and a type checker that no other has."""
    project = Project(tmp_path)
    place = tmp_path / "infra" / "own"
    venv.create(place, symlinks=True)
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "only_here.py").touch()
    (packages / "mypy.py").write_text("import sys; print('one error'); sys.exit(sys.argv[1:3] != ['--exclude', 'own'])")
    (packages / "more.pth").write_text("\n".join(site.getsitepackages()))
    options = "{name: python, options: {virtualenv: own, typechecker: mypy}}"
    # Project and program are one folder, as `pulumi new` makes them.
    (tmp_path / "infra" / "Pulumi.yaml").write_text(f"name: tiny\nruntime: {options}\n")
    project.root = tmp_path / "infra"
    assert project.run("stack", "init")[0] == 0
    return project.program_here(PROGRAM)


@pytest.mark.sandbox
def test_a_program_and_its_dynamic_providers_run_there_after_the_type_checker(project: Project) -> None:
    code, output = project.run("up", "--yes")
    assert code == 0, output
    assert "one error" in output
    shown = project.run("stack", "output", "--json")[1]
    assert f'"{project.root}/own"' in shown
    assert f"{project.root}/own/lib" in shown


@pytest.mark.sandbox
def test_what_is_wrong_with_the_environment_or_not_there_is_said(project: Project) -> None:
    file = project.root / "Pulumi.yaml"
    text = file.read_text()
    project.environment |= {"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true", "PULUMI_DEBUG_PROVIDERS": "aws:1"}
    of_eks = (
        "import pulumi; pulumi.CustomResource('eks:index:Cluster', 'c', {}, pulumi.ResourceOptions(version='4.4.0'))"
    )
    for options, program, says in (
        ("{virtualenv: none}", PROGRAM, f"not made, {project.root}/none: `pulumi install` makes it"),
        ("{}", PROGRAM, "names no environment (runtime.options.virtualenv), so the program runs in Slipway's"),
        ("{toolchain: conda}", PROGRAM, "runtime.options.toolchain must be pip or uv or poetry (given: conda)"),
        ("{virtualenv: own, typechecker: pyright}", PROGRAM, "pyright refuses the program, or"),
        ("{virtualenv: own}", of_eks, "eks:index:Cluster: the sandbox itself provides aws, and downloads no plugin"),
        ("{virtualenv: own}", of_eks, "pulumi plugin install resource eks 4.4.0"),
    ):
        file.write_text(text.replace("{virtualenv: own, typechecker: mypy}", options))
        code, output = project.program_here(program).run("preview")
        assert (code != 0, says in output) == (True, True), output


def found(root: Path, **options: Any) -> Environment:
    info = language_pb2.ProgramInfo(root_directory=str(root), program_directory=str(root / "infra"))
    return Environment.of(json_format.ParseDict({"options": options}, info))


def test_each_tool_has_its_own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "app"
    (root / "infra").mkdir(parents=True)
    assert (found(root).place, found(root, toolchain="poetry").place) == (None, None)
    assert found(root, toolchain="uv").place == root / ".venv"
    (tmp_path / "uv.lock").touch()
    (root / "pyproject.toml").touch()
    assert found(root, toolchain="uv").place == tmp_path / ".venv"
    assert found(root, toolchain="uv", virtualenv="x").place == root / "x"
    (tmp_path / "poetry").write_text('#!/bin/sh\n[ "$*" = "env info --path" ] && echo "$PWD/of-poetry"\n')
    (tmp_path / "poetry").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert found(root, toolchain="poetry").place == root / "infra" / "of-poetry"
    assert found(root, virtualenv=sys.prefix).python == sys.executable


def test_pip_makes_it_with_what_the_program_requires(tmp_path: Path) -> None:
    (tmp_path / "infra").mkdir()
    assert list(found(tmp_path, virtualenv="v").install()) == []
    (tmp_path / "infra" / "requirements.txt").touch()
    made, installs = found(tmp_path, virtualenv="v").install()
    subprocess.run([*made, "--without-pip"], check=True)
    assert found(tmp_path, virtualenv="v").python == installs[0]
