"""Fixtures are read strictly: each has a place, and its properties are those of the type."""

import importlib
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args, get_origin

import pytest
from pulumi import _types

from policies.resources.tokens import SDK
from policies.rules import MODULES, RULES, rules_of
from tests.policies.fixtures import FIXTURES, read
from tests.support.cases import beside

CASES: Final = beside(__file__)
OF_ANOTHER_TYPE: Final = frozenset(CASES["properties of another type"])
"""Properties that a fixture has although its type hasn't: a rule must take no notice of them."""
SAMPLE: Final = CASES["sample"]


@cache
def class_of(token: str) -> Any:
    """The SDK's class of a type; None for custom resources, components and providers."""
    path = SDK.get(token)
    if path is None and token.startswith("kubernetes:"):
        group, _, version = token.split(":")[1].partition("/")
        path = f"pulumi_kubernetes.{group.partition('.')[0]}.{version}.{token.rpartition(':')[2]}"
    module, _, name = (path or "").rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name, None) if module else None
    except ModuleNotFoundError:
        return None
    return found if getattr(found, "pulumi_type", None) == token else None


def unknown(value: Any, kind: Any, path: str) -> Iterator[str]:
    """Paths below a value that a type of the SDK doesn't have."""
    kind = _types.unwrap_type(kind)
    if isinstance(value, Mapping) and isinstance(kind, type) and _types.is_output_type(kind):
        yield from unknown_properties(value, _types.output_type_types(kind), f"{path}.")
    elif isinstance(value, list) and get_args(kind):
        for item in value:
            yield from unknown(item, get_args(kind)[0], path)
    elif isinstance(value, Mapping) and len(get_args(kind)) > 1 and get_origin(kind) in (dict, Mapping):
        for item in value.values():
            yield from unknown(item, get_args(kind)[1], path)


def unknown_properties(props: Mapping[str, Any], known: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for name, value in props.items():
        if name in known:
            yield from unknown(value, known[name], f"{above}{name}")
        else:
            yield f"{above}{name}"


def test_the_properties_of_fixtures_are_those_of_the_sdks_type() -> None:
    """Otherwise a rule and its fixtures could have the same typo."""
    found: dict[str, str] = {}
    classes = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for rule in RULES:
            fixtures = FIXTURES[rule.name]
            for row in (*fixtures.good, *(row for rows in fixtures.bad.values() for row in rows)):
                for resource in row.values():
                    if (of_type := class_of(resource.type)) is not None:
                        classes.add(of_type)
                        for path in unknown_properties(resource.props, _types.resource_types(of_type)):
                            found.setdefault(f"{resource.type} {path}", row.place)
    assert len(classes) > 100
    assert {name: place for name, place in found.items() if name not in OF_ANOTHER_TYPE} == {}
    assert OF_ANOTHER_TYPE - found.keys() == set()


def test_each_file_of_fixtures_belongs_to_a_module_of_rules() -> None:
    modules = {module.__name__.rpartition(".")[2]: module for modules in MODULES.values() for module in modules}
    folder = Path(__file__).with_name("fixtures")
    assert {path.stem for path in folder.glob("*.yaml")} == set(modules)
    for name, module in modules.items():
        assert set(read(folder / f"{name}.yaml")) == {rule.name for rule in rules_of(module)}, name


def test_a_rule_without_fixtures_is_named_with_its_file() -> None:
    with pytest.raises(LookupError, match="rule no-such has no fixtures"):
        FIXTURES["no-such"]


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        ("{of: nothing}", r"it.yaml:8: .*there is no base 'nothing'"),
        ("{EFSS: {}}", r"it.yaml:8: .*there is no type 'EFSS'"),
        ("{of: system, unknownName.x: 1}", r"it.yaml:8: .*unknownName"),
        ("{of: system, kmsKeyId: ABSENT}", r"it.yaml:8: .*kmsKeyId"),
        ("{point: 1}", r"it.yaml:8: 1 is neither a fixture nor a resource"),
        ("{EFS: {}}\nmore: {good: [{EFS: {}}], bat: {}}", "it.yaml: more: .*bat"),
    ],
)
def test_a_mistake_in_a_file_is_reported_with_file_and_line(tmp_path: Path, case: str, problem: str) -> None:
    path = tmp_path / "it.yaml"
    path.write_text(SAMPLE.replace("CASE", case))
    with pytest.raises(ValueError, match=problem):
        read(path)


def test_a_base_that_no_fixture_uses_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "it.yaml"
    path.write_text(SAMPLE.replace("good: [system]", "good: [{EFS: {}}]").replace("CASE", "{EFS: {}}"))
    with pytest.raises(ValueError, match=r"it.yaml: no fixture is of the base system"):
        read(path)


def test_a_text_in_json_is_edited_as_its_value(tmp_path: Path) -> None:
    path = tmp_path / "it.yaml"
    path.write_text(SAMPLE.replace("CASE", "{of: system, policy.Statement.0.Effect: Deny, policy.Statement.1: UNSET}"))
    fixtures = read(path)["it"]
    assert fixtures.good[0]["it"].props["policy"] == '{"Statement": [{"Effect": "Allow"}]}'
    assert fixtures.bad["check"][0]["it"].props["policy"] == '{"Statement": [{"Effect": "Deny"}, "UNSET"]}'
