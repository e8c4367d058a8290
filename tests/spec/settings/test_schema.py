"""The committed schema is that of the models, accepts the stacks that load, and refuses misspelt keys."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
import yaml

from spec.jobs import HOUR, LONGEST
from spec.settings import load, read_stack, reference, schema, stacks_in
from spec.settings.presets import PRESETS
from tests.spec.settings.stack import BASE, STACK, changed, problems
from tests.support import generated
from tests.support.cases import beside

CASES: Final = beside(__file__)

STACKS = Path(__file__).parents[3] / "stacks"
VALIDATOR = jsonschema.Draft202012Validator(schema.generate())


def errors(document: object) -> list[str]:
    return [f"{'.'.join(map(str, error.path))}: {error.message}" for error in VALIDATOR.iter_errors(document)]


def document(settings: object, **more: object) -> dict[str, object]:
    return {"config": {"slipway:platform": settings}, **more}


def test_the_committed_schema_is_current() -> None:
    generated.check(STACKS / "schema.json", schema.text(), generated.SETTINGS)


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(schema.text()))


@pytest.mark.parametrize("stack", stacks_in(STACKS))
def test_every_stack_file_validates_and_loads(stack: str) -> None:
    assert errors(yaml.safe_load((STACKS / f"Pulumi.{stack}.yaml").read_text())) == []
    assert load(read_stack(stack, STACKS), stack=stack).platform.environment.name == stack


@pytest.mark.parametrize("stack", stacks_in(STACKS))
def test_every_stack_file_names_the_schema_for_editors(stack: str) -> None:
    first = (STACKS / f"Pulumi.{stack}.yaml").read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=schema.json"


def test_keys_that_pulumi_writes_for_secrets_are_accepted_and_no_others() -> None:
    assert (
        errors(document(BASE, secretsprovider="awskms://alias/x", encryptedkey="AQ==", encryptionsalt="v1:x:y")) == []
    )
    assert errors(document(BASE, environment=["base"]))
    assert errors({"config": {"slipway:platform": BASE, "aws:skipMetadataApiCheck": "true"}})


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"config": {}},
        {"config": {"slipway:platfrom": BASE}},
        {"config": {"slipway:platform": BASE, "slipway:other": 1}},
        document(BASE, confgi={}),
        document(changed({"network.zone": ["a"]})),
        document(changed({"pools.GPU": {"preset": "cpu"}})),
        document(changed({"pools.cpu.preset": "cpuu"})),
        document(changed({"pools.cpu": {"role": "general", "max": 1}})),
        document(changed({"pools.cpu.instanceTypes": ["m7i.lrage"]})),
        document(changed({"account.region": "us-east-9"})),
        document(changed({"pools.a100.mig.layout": "all-9g"})),
    ],
)
def test_the_schema_refuses_mistakes(wrong: object) -> None:
    assert errors(wrong)


@pytest.mark.parametrize("changes", [
    {"pools.cpu.disruption.budgets": {"working-hours": {"duration": "10h"}}},
    {"pools.cpu.amiRelease": None, "pools.cpu.mig": None},
    {"pools.cpu.labels": {"example.com/team": ""}},
    {"environment.tags": {"a": "b"}, "cluster.addons": {"coredns": {"version": "v1.12.4-eksbuild.1"}}},
    {"account.region": "eu-west-2", "account.zoneIds": {"eu-west-2a": "euw2-az2", "eu-west-2b": "euw2-az3"},
        "network.zones": ["eu-west-2a", "eu-west-2b"], "pools.h100.zones": ["eu-west-2a"]},
])  # fmt: skip
def test_the_schema_accepts_what_loads(changes: dict[str, Any]) -> None:
    assert problems(changed(changes)) == ()
    assert errors(document(changed(changes))) == []


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_the_schema_accepts_every_preset(preset: str) -> None:
    assert errors(document(changed({"pools.extra": {"preset": preset}}))) == []


def test_every_setting_has_a_description() -> None:
    missing = [
        f"{model}.{key}"
        for model, definition in schema.generate()["$defs"].items()
        for key, prop in definition.get("properties", {}).items()
        if "description" not in prop and "$ref" not in prop
    ]
    assert missing == []


def test_titles_that_repeat_keys_are_left_out_and_field_names_are_in_the_files_spelling() -> None:
    text = schema.text()
    assert "Publicaccesscidrs" not in text
    assert "public_access_cidrs" not in text


@pytest.mark.parametrize("module", [schema, reference], ids=["schema", "reference"])
def test_check_fails_for_a_stale_file_and_shows_the_command(
    module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "FILE", tmp_path / "generated")
    assert module.main(["--check"]) == 1
    assert f"python -m {module.__name__}" in capsys.readouterr().err
    assert module.main([]) == 0
    assert module.main(["--check"]) == 0
    assert module.main(["--wrong"]) == 2


def test_the_base_of_the_tests_is_valid_by_the_schema() -> None:
    assert errors(document(BASE)) == []
    assert STACK == "test"


# The page of all settings.


@cache
def page() -> str:
    """The page as it would be written."""
    return reference.text()


def rows(text: str) -> dict[str, list[str]]:
    """Value with its default, and meaning, of each setting by its path."""
    found = {}
    path = ""
    for line in text.splitlines():
        if line.startswith("## "):
            path = line.removeprefix("## ").strip("`") if "`" in line else ""
        elif item := re.fullmatch(r"- \[?`(\w[\w-]*)`(?:\]\(#[\w-]+\))?(?: \((.+?)\))?\. (.*)", line):
            found[f"{path}.{item[1]}".lstrip(".")] = [item[2] or "", item[3]]
        elif same := re.match(r"The keys of \[`([^`]+)`\]", line):
            below = {key: one for key, one in found.items() if key.startswith(f"{same[1]}.")}
            found |= {f"{path}{key.removeprefix(same[1])}": one for key, one in below.items()}
    return found


def keys(name: str, definitions: dict[str, Any]) -> Iterator[str]:
    """Keys of a model and of all models inside it."""
    yield from definitions[name]["properties"]
    for part in str(definitions[name]).split("'#/$defs/")[1:]:
        below = part.partition("'")[0]
        if "properties" in definitions[below]:
            yield from keys(below, definitions)


def test_the_page_is_that_of_the_models() -> None:
    generated.check(reference.FILE, page(), generated.SETTINGS)


def test_every_setting_is_on_the_page() -> None:
    definitions = schema.generate()["$defs"]
    assert {path.rpartition(".")[2] for path in rows(page())} == set(keys("Platform", definitions))


def test_every_setting_has_a_meaning() -> None:
    assert [path for path, cells in rows(page()).items() if not cells[1]] == []


@pytest.mark.parametrize(("path", "value"), CASES["values and defaults of a setting are listed"])
def test_values_and_defaults_of_a_setting_are_listed(path: str, value: str) -> None:
    assert rows(page())[path][0] == value


def test_nodes_of_training_outlive_the_longest_job_by_four_hours() -> None:
    for name in ("a100", "h100"):
        assert PRESETS[name]["disruption"]["terminationGracePeriod"] == f"{LONGEST // HOUR + 4}h"
