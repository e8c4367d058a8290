"""Data is read as go-yaml reads it, and what could mislead is an error with its place."""

import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from spec import strict_yaml


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("true", True),
        ("True", True),
        ("FALSE", False),
        *((word, word) for word in ("yes", "No", "on", "off", "y", "tRUE", "20:00", "-1:30", "1:30.5", "1.2.3", "12h")),
        ("1_000", 1000),
        ("-3", -3),
        ("0x1F", 31),
        ("1e3", 1000.0),
        ("1E-3", 0.001),
        ("1.", 1.0),
        ("-.5", -0.5),
        (".inf", math.inf),
        ("null", None),
        ("~", None),
        ("'1'", "1"),
    ],
)
def test_a_plain_scalar_is_what_go_yaml_takes_it_for(scalar: str, value: Any) -> None:
    read = strict_yaml.read(f"key: {scalar}")["key"]
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(("text", "problem", "line"), [
    ("a: 1\nb: 2\na: 3\n", "the key 'a' is set twice", 3),
    ("- {a: 1,\n   a: 2}\n", "the key 'a' is set twice", 2),
    ("a: {b: 1}\n<<: {c: 1}\n", "merge keys are not supported", 2),
    ("? [a]\n: 1\n", "a key must be text", 1),
])  # fmt: skip
def test_what_could_mislead_a_reader_is_an_error_with_its_place(text: str, problem: str, line: int) -> None:
    with pytest.raises(yaml.MarkedYAMLError, match=problem) as caught:
        strict_yaml.read(text)
    assert caught.value.problem_mark is not None
    assert caught.value.problem_mark.line + 1 == line


def test_rows_have_the_place_at_which_they_begin(tmp_path: Path) -> None:
    file = tmp_path / "table.yaml"
    file.write_text("# A table.\n- {id: 1,\n   what: x}\n\n- [2]\n", encoding="utf-8")
    assert list(strict_yaml.rows(file)) == [("table.yaml:2", {"id": 1, "what": "x"}), ("table.yaml:5", [2])]


@pytest.mark.parametrize("text", ["a: 1\n", "text\n", ""])
def test_a_table_that_is_no_list_is_an_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "table.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(yaml.YAMLError, match=r"table\.yaml must be a list"):
        list(strict_yaml.rows(file))
