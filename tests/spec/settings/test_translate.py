"""Errors of the models are told in words, for every rule that the models have."""

from __future__ import annotations

import re
from typing import Any

from spec.settings.platform import Platform
from spec.settings.translate import PATTERNS, unknown


def patterns(node: Any) -> set[str]:
    if isinstance(node, list):
        return set().union(*map(patterns, node))
    if not isinstance(node, dict):
        return set()
    own = {node["pattern"]} if isinstance(node.get("pattern"), str) else set()
    return own.union(node.get("patternProperties", ()), *map(patterns, node.values()))


def test_every_pattern_of_the_models_is_explained_and_no_other() -> None:
    assert patterns(Platform.model_json_schema()) == set(PATTERNS)


def test_examples_in_explanations_match_their_patterns() -> None:
    shown = {
        pattern: re.findall(r"(?:like|named like|quotes:) ([^,\n]+?)(?: or |\.$|$)", f"{rule} {mend}")
        for pattern, (rule, mend) in PATTERNS.items()
    }
    examples = [(pattern, text.strip('"')) for pattern, texts in shown.items() for text in texts]
    assert len(examples) >= 8
    for pattern, text in examples:
        assert re.fullmatch(pattern, text.split(", ")[0]), (pattern, text)


def test_a_key_that_begins_like_a_known_one_is_meant_before_one_of_like_letters() -> None:
    assert unknown("pools.x.ami", 1, ["min", "amiRelease"]).mend == "Did you mean `amiRelease`?"
    assert unknown("pools.x.netwrok", 1, ["network"]).mend == "Did you mean `network`?"
    assert unknown("pools.x.qqq", 1, ["b", "a"]).mend == "Remove it, or use one of a, b."
