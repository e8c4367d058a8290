from __future__ import annotations

import pytest

from slipway.errors import SandboxError
from slipway.sandbox.kubernetes.helm.text import documents, mapping


def test_documents_without_a_kind_are_ignored() -> None:
    assert list(documents("---\n# nothing\n---\nkind: A\n---\nname: b\n", "here")) == [{"kind": "A"}]


@pytest.mark.parametrize(("text", "value"), [("2026-01-01", "2026-01-01"), ("=", "="), ("0.5", 0.5)])
def test_scalars_are_read_like_kubernetes(text: str, value: object) -> None:
    assert mapping(f"a: {text}", "here") == {"a": value}


@pytest.mark.parametrize("text", ["", "- a", "text"])
def test_a_text_that_is_not_a_map_is_an_empty_map(text: str) -> None:
    assert mapping(text, "here") == {}


def test_invalid_yaml_is_reported_by_name() -> None:
    with pytest.raises(SandboxError, match=r"values\.yaml of widget is not valid YAML"):
        mapping("a: [", "values.yaml of widget")
