"""Data is read as go-yaml reads it, and what could mislead is an error with its place."""

import io
import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from spec import strict_yaml
from spec.errors import SlipwayError


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


BOMB = "\n".join(["a0: &a0 [lol, lol]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9))])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (BOMB, "aliases stand for at most"),
        (
            "\n".join(["a0: &a0 {x: 1}", *(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}" for n in range(1, 30))]),
            "aliases",
        ),
        (f"a: &a {'x' * 10_000}\nb: [{', '.join(['*a'] * 1000)}]", "aliases stand for at most"),
        ("a: &a [*a]", "stands for nothing"),
        ("a: *b", "stands for nothing"),
        ("[" * 50_000, "at most 100 levels"),
        ("- " * 50_000 + "x", "at most 100 levels"),
        ("a: 2026-13-45", "its YAML type"),
        ("a: " + "9" * 5000, "its YAML type"),
        ("a: !!python/object/apply:os.system [id]", "could not determine a constructor"),
        ("a: [", "flow node"),
    ],
)
def test_a_users_file_that_stands_for_more_than_it_has_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "x.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SlipwayError, match=rf"x\.yaml: not valid YAML: .*{problem}"):
        strict_yaml.documents(tmp_path / "x.yaml")


def test_a_users_file_may_have_aliases_and_several_documents(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(
        "a: &a {x: [1]}\nb: {<<: *a, y: 2}\nc: *a\n---\n---\nd: no\n", encoding="utf-8-sig"
    )
    every: list[Any] = [{"a": {"x": [1]}, "b": {"x": [1], "y": 2}, "c": {"x": [1]}}, None, {"d": False}]
    assert strict_yaml.documents(tmp_path / "x.yaml") == every
    with pytest.raises(yaml.YAMLError, match="one document"):
        strict_yaml.one("a\n---\nb\n")


def test_a_large_file_and_one_that_is_no_text_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict_yaml, "MAX_SIZE", 3)
    (tmp_path / "x").write_bytes(b"abc")
    assert strict_yaml.text_of(tmp_path / "x") == "abc"
    monkeypatch.setattr("sys.stdin", io.StringIO("abcd"))
    file = tmp_path / "x"
    for path, content, problem in (
        (file, b"abcd", "at most 3"),
        (file, b"\xff", "not UTF-8"),
        (Path("-"), b"", "-: a"),
    ):
        file.write_bytes(content)
        with pytest.raises(SlipwayError, match=problem):
            strict_yaml.text_of(path)
