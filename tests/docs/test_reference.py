"""The generated references are current and complete."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spec.settings import schema
from spec.settings.addons import Addons
from spec.settings.translate import RENAMED
from tests.docs.pages import ROOT, code, pages
from tests.docs.reference import ADDONS, COMMANDS, addons, charts, commands, page_of
from tests.docs.test_commands import KNOWN
from tests.support.generated import REFERENCE, check, check_part
from tools.site.messages import PAGE, messages
from tools.site.runs import parts


def test_the_references_are_current() -> None:
    check(COMMANDS, commands(), REFERENCE)
    check(PAGE, messages(), REFERENCE)
    for page, name, text in ((ADDONS, "addons", addons()), (ADDONS, "charts", charts()), *parts()):
        check_part(page, name, text, REFERENCE)


def test_the_reference_has_every_command_and_every_option() -> None:
    parts = dict(re.findall(r"^## `slipway ([^`]+)`\n(.*?)(?=^## |\Z)", commands(), re.M | re.S))
    assert set(parts) == {" ".join(words) for words in KNOWN if words}
    listed = {words: {one for one in of if f"`{one}" in parts[" ".join(words)]} for words, of in KNOWN.items() if words}
    assert listed == {words: options for words, options in KNOWN.items() if words}


# Settings on the pages exist.


DEFINITIONS: dict[str, Any] = schema.generate()["$defs"]
ROOTS = "|".join(DEFINITIONS["Platform"]["properties"])
PATH = re.compile(rf"(?:{ROOTS})(?:\.(?:[A-Za-z0-9-]+|<[a-z ]+>|\*))+")
FILES = re.compile(r"\.(md|py|yaml|json)$")


def choices(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schemas that a value may have, with references resolved."""
    for form in value.get("anyOf", [value]):
        name = str(form.get("$ref", "")).rpartition("/")[2]
        yield DEFINITIONS[name] if name else form


def exists(path: str) -> bool:
    """Whether a path, with names or `<name>` for the keys of maps, is a setting."""
    forms = [DEFINITIONS["Platform"]]
    for part in path.split("."):
        below: list[dict[str, Any]] = []
        for form in forms:
            fields = form.get("properties")
            values = next(iter(form.get("patternProperties", {}).values()), form.get("additionalProperties"))
            if fields and part in fields:
                below += choices(fields[part])
            elif not fields and isinstance(values, dict):
                below += choices(values)
        forms = below
    return bool(forms)


def test_paths_are_resolved_through_models_and_maps() -> None:
    assert exists("pools.<name>.mig.layout")
    assert exists("teams.vision.gpus.h100.nominalQuota")
    assert exists("addons.kubePrometheusStack.alerts.runbooks")
    assert not exists("pools.<name>.mig.layouts")
    assert not exists("storage.bucket")


def test_settings_on_pages_exist() -> None:
    wrong = [
        f"{page.relative_to(ROOT)}: {span}"
        for page in pages()
        if page.name != "CHANGELOG.md"
        for span in code(page.read_text(encoding="utf-8"))
        if PATH.fullmatch(span) and not FILES.search(span) and not exists(span)
    ]
    assert wrong == []


def test_the_changelog_lists_the_renamed_settings() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("| Old setting |")[2].partition("\n\n")[0]
    listed = {
        old.replace("<name>", "*"): new for old, new in re.findall(r"^\| `(.+?)` \| `(.+?)` \|$", text, re.MULTILINE)
    }
    assert listed == dict(RENAMED)


# Each add-on has a page with the same sections and all its settings; each runbook has the same sections.


FOLDER = ROOT / "docs" / "addons"
PARTS = ("Settings", "Cost", "Verification", "Troubleshooting")
NO_ADDON = {"storage", "README"}
"""The page with the same sections about parts of every stack, and the index."""


def settings() -> Iterator[tuple[Path, str]]:
    """Every add-on's page and setting, if it has settings of its own."""
    for field in Addons.model_fields.values():
        model = next(part for part in field.annotation.__args__ if part is not type(None))  # type: ignore[union-attr]
        if model.model_fields:
            yield page_of(str(field.alias)), str(field.alias)


def test_every_addon_has_a_page_and_every_page_an_addon() -> None:
    wanted = {page_of(str(field.alias)).stem for field in Addons.model_fields.values()}
    present = {page.stem for page in FOLDER.glob("*.md")} - NO_ADDON
    assert wanted - present == set(), "write docs/addons/NAME.md for each, with the sections of the others"
    assert present - wanted == set(), "pages without an add-on"


@pytest.mark.parametrize("page", sorted(FOLDER.glob("[!R]*.md")), ids=lambda page: page.stem)
def test_an_addon_page_has_all_sections_in_order(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.findall("^## (.*)$", text, re.MULTILINE) == list(PARTS)
    assert "**Sandbox limitations.**" in text


@pytest.mark.parametrize(("page", "key"), list(settings()), ids=lambda value: getattr(value, "stem", ""))
def test_an_addon_page_links_its_settings_which_are_on_their_own_page(page: Path, key: str) -> None:
    part = page.read_text(encoding="utf-8").partition("## Settings")[2].partition("\n## ")[0]
    assert f"](../settings.md#addons{key.lower()})" in part
    assert re.search(r"^\| Key ", part, re.MULTILINE) is None, "each setting is described in its model"


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "runbooks").glob("[!R]*.md")), ids=lambda page: page.stem)
def test_a_runbook_has_all_sections_in_order(page: Path) -> None:
    headings = re.findall("^## (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == ["Meaning", "Diagnosis", "Mitigation"]
