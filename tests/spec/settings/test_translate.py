"""Errors of the models are reported in words, for every rule that the models have."""

import re
from typing import Any

import pytest

from spec.settings import reference
from spec.settings.base import EXPLANATIONS
from spec.settings.platform import Platform
from spec.settings.translate import RENAMED, unknown
from tests.spec.settings.stack import changed, problems
from tests.spec.settings.test_reference import rows


def patterns(node: Any) -> set[str]:
    if isinstance(node, list):
        return set().union(*map(patterns, node))
    if not isinstance(node, dict):
        return set()
    own = {node["pattern"]} if isinstance(node.get("pattern"), str) else set()
    return own.union(node.get("patternProperties", ()), *map(patterns, node.values()))


def test_every_pattern_of_the_models_is_explained_and_no_other() -> None:
    assert patterns(Platform.model_json_schema()) == set(EXPLANATIONS)


def test_examples_in_explanations_match_their_patterns() -> None:
    shown = {
        pattern: re.findall(r"(?:like|named like|quotes:) ([^,\n]+?)(?: or |\.$|$)", f"{rule} {fix}")
        for pattern, (rule, fix) in EXPLANATIONS.items()
    }
    examples = [(pattern, text.strip('"')) for pattern, texts in shown.items() for text in texts]
    assert len(examples) >= 8
    for pattern, text in examples:
        assert re.fullmatch(pattern, text.split(", ")[0]), (pattern, text)


def test_a_key_with_the_same_beginning_is_suggested_before_one_with_similar_letters() -> None:
    assert unknown("pools.x.ami", 1, ["min", "amiRelease"]).fix == "Did you mean `amiRelease`?"
    assert unknown("pools.x.netwrok", 1, ["network"]).fix == "Did you mean `network`?"
    assert unknown("pools.x.qqq", 1, ["b", "a"]).fix == "Remove it, or use one of a, b."
    assert unknown("teams.x.namespaces.y.z.qqq", 1, []).fix == "Remove it."


def old_and_new() -> list[tuple[str, str]]:
    return [(old.replace("*", "x"), new) for old, new in RENAMED.items()]


@pytest.mark.parametrize(("old", "new"), old_and_new())
def test_an_old_name_is_refused_with_the_new_one(old: str, new: str) -> None:
    problem = unknown(old, 1, ["other"])
    assert (problem.path, problem.fix) == (old, f"Write `{new}`.")
    assert f"renamed to {new}" in problem.rule


def test_every_new_name_is_a_setting_and_no_old_one_is() -> None:
    known = set(rows(reference.text()))
    for old, new in RENAMED.items():
        path = old.replace("*", "NAME")
        assert f"{path.rpartition('.')[0]}.{new}".lstrip(".") in known, old
        assert path not in known, old


def test_a_required_key_under_its_old_name_is_one_problem() -> None:
    team = {"project": "p", "costCenter": "c", "gpus": {"a100": {"nominal": 8}}}
    (problem,) = problems(changed({"teams.vision": team}))
    assert problem.path == "teams.vision.gpus.a100.nominal"
