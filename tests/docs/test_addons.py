"""Each add-on has a page with the same sections and all its settings; each runbook has the same sections."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from spec.settings.addons import Addons
from tests.docs.pages import ROOT

FOLDER = ROOT / "docs" / "addons"
PARTS = ("Settings", "Cost", "Verification", "Troubleshooting")
NO_ADDON = {"storage", "README"}
"""The page with the same sections about parts of every stack, and the index."""


def page_of(alias: str) -> Path:
    """`gpuOperator` is in gpu-operator.md."""
    return FOLDER / (re.sub("([A-Z])", r"-\1", alias).lower() + ".md")


def settings() -> Iterator[tuple[Path, type[BaseModel]]]:
    """Every add-on's page and model."""
    for field in Addons.model_fields.values():
        model = next(part for part in field.annotation.__args__ if part is not type(None))  # type: ignore[union-attr]
        yield page_of(str(field.alias)), model


def test_every_addon_has_a_page_and_every_page_an_addon() -> None:
    wanted, present = {page.stem for page, _ in settings()}, {page.stem for page in FOLDER.glob("*.md")} - NO_ADDON
    assert wanted - present == set(), "write docs/addons/NAME.md for each, with the sections of the others"
    assert present - wanted == set(), "pages without an add-on"


@pytest.mark.parametrize("page", sorted(FOLDER.glob("[!R]*.md")), ids=lambda page: page.stem)
def test_an_addon_page_has_all_sections_in_order(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.findall("^## (.*)$", text, re.MULTILINE) == list(PARTS)
    assert "**Sandbox limitations.**" in text


@pytest.mark.parametrize(("page", "model"), list(settings()), ids=lambda value: getattr(value, "stem", ""))
def test_an_addon_page_lists_every_setting_with_its_default(page: Path, model: type[BaseModel]) -> None:
    part = page.read_text(encoding="utf-8").partition("## Settings")[2].partition("\n## ")[0]
    named = set(re.findall(r"[A-Za-z]+", " ".join(re.findall("`([^`]*)`", part))))
    missing = {str(field.alias) for field in model.model_fields.values()} - named
    assert missing == set(), f"add these settings to the table of {page.relative_to(ROOT)}"
    cells = [[cell.strip(" `") for cell in row.split("|")[1:3]] for row in part.splitlines() if row.startswith("| `")]
    listed = {key: default for key, default in cells if "." not in key and re.fullmatch(r"\d+|true|false", default)}
    real = {str(field.alias): str(field.default).lower() for field in model.model_fields.values()}
    assert listed == {key: real[key] for key in listed}, f"correct the defaults in {page.relative_to(ROOT)}"


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "runbooks").glob("[!R]*.md")), ids=lambda page: page.stem)
def test_a_runbook_has_all_sections_in_order(page: Path) -> None:
    headings = re.findall("^## (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == ["Meaning", "Diagnosis", "Mitigation"]
