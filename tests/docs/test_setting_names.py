"""Settings on the pages exist."""

import re
from collections.abc import Iterator
from typing import Any

from spec.settings import schema
from spec.settings.translate import RENAMED
from tests.docs.pages import ROOT, code, pages

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
