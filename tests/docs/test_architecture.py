"""The architecture page shows the layers that import-linter checks."""

import re
import tomllib
from typing import Any

import pytest

from tests.docs.pages import ROOT

PAGE = (ROOT / "docs/architecture.md").read_text()


def contracts() -> list[dict[str, Any]]:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return list(document["tool"]["importlinter"]["contracts"])


def layers(package: str) -> list[set[str]]:
    """Layers inside a package from the lowest, in the contract."""
    (contract,) = [one for one in contracts() if one.get("containers") == [package]]
    return [{name.strip() for name in layer.split("|")} for layer in reversed(contract["layers"])]


def on_page(package: str) -> list[set[str]]:
    """Layers inside a package from the lowest, on the page."""
    match = re.search(rf"- \*\*{package}\*\*: (.+?)(?=\n- |\n\n)", PAGE, re.DOTALL)
    assert match, package
    text = match[1].replace("\\", "").replace("\n", " ")
    return [{name.strip() for name in layer.split("+")} for layer in text.split("<")]


@pytest.mark.parametrize("package", ["spec", "components", "policies", "sandbox", "slipway"])
def test_the_page_lists_the_layers_of_the_contract(package: str) -> None:
    assert on_page(package) == layers(package)


def test_every_file_of_the_walkthrough_exists() -> None:
    walk = PAGE.partition("How one setting travels")[2]
    paths = re.findall(r"`((?:spec|components|policies|sandbox|slipway|stacks)/[\w./]*)`", walk)
    assert len(paths) >= 12
    assert [path for path in paths if not (ROOT / path).exists()] == []
