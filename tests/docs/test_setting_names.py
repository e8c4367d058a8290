"""Settings that pages name exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from spec.settings import schema
from tests.docs.pages import ROOT, code, pages

DEFINITIONS: dict[str, Any] = schema.generate()["$defs"]
ROOTS = "|".join(DEFINITIONS["Platform"]["properties"])
PATH = re.compile(rf"(?:{ROOTS})(?:\.(?:[A-Za-z0-9-]+|<[a-z ]+>|\*))+")
FILES = re.compile(r"\.(md|py|yaml|json)$")


def choices(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The forms that a value may have, references followed."""
    for form in value.get("anyOf", [value]):
        name = str(form.get("$ref", "")).rpartition("/")[2]
        yield DEFINITIONS[name] if name else form


def exists(path: str) -> bool:
    """Whether a path, with names or `<name>` for the keys of maps, leads to a setting."""
    forms = [DEFINITIONS["Platform"]]
    for part in path.split("."):
        below: list[dict[str, Any]] = []
        for form in forms:
            fields = form.get("properties")
            held = next(iter(form.get("patternProperties", {}).values()), form.get("additionalProperties"))
            if fields and part in fields:
                below += choices(fields[part])
            elif not fields and isinstance(held, dict):
                below += choices(held)
        forms = below
    return bool(forms)


def test_paths_are_followed_through_models_and_maps() -> None:
    assert exists("pools.<name>.mig.layout")
    assert exists("teams.vision.gpus.h100.nominalQuota")
    assert exists("addons.kubePrometheusStack.alerts.runbooks")
    assert not exists("pools.<name>.mig.layouts")
    assert not exists("storage.bucket")


def test_pages_name_settings_that_exist() -> None:
    wrong = [
        f"{page.relative_to(ROOT)}: {span}"
        for page in pages()
        for span in code(page.read_text(encoding="utf-8"))
        if PATH.fullmatch(span) and not FILES.search(span) and not exists(span)
    ]
    assert wrong == []
