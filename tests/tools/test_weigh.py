"""What `make weigh` counts, and that what one thing costs stays within what CONTRIBUTING calls normal."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tools import weigh

NORMAL = {"add-on": 120, "policy rule": 40, "AWS type": 40, "instance type": 2}
"""Maximum lines by the beginning of an example's kind (CONTRIBUTING)."""
SOURCE = """\
from a import Thing, Other

class Thing(Base):
    x = 1

ROWS = {
    "thing": Row(
        2,
    ),
    "other": Row(Thing.x),
}
things = Thing
"""


@pytest.fixture(scope="module")
def texts() -> dict[str, list[str]]:
    return weigh.tracked()


@pytest.mark.parametrize("example", weigh.EXAMPLES, ids=lambda example: example.name)
def test_one_more_costs_what_is_normal(texts: dict[str, list[str]], example: weigh.Example) -> None:
    (most,) = (lines for kind, lines in NORMAL.items() if example.kind.startswith(kind))
    price = weigh.cost(texts, example.names)
    assert price.defined, f"nothing defines {example.name}: correct EXAMPLES in tools/weigh.py"
    assert price.lines <= most, f"{example.kind}, {example.name}: {price}"


def test_a_definition_counts_whole_and_a_name_by_its_line() -> None:
    rows = "first: {uses: thing}\nthing:\n  a: 1\n\n  b: 2\nlast: 1"
    given = {"spec/a.py": SOURCE, "spec/b.py": "import Thing", "spec/rows.yaml": rows, "docs/thing.md": "thing"}
    price = weigh.cost({name: text.splitlines() for name, text in given.items()}, "Thing|thing")
    # Import, class, entry, use and last line; the first row, and the block with its blank line.
    assert price.defined == {"spec/a.py": 8, "spec/rows.yaml": 5}
    assert price.named == {"spec/b.py": 1}
    assert price.lines == 14


def test_lines_and_files_by_package_and_tier() -> None:
    short = {"spec/__init__.py": ["y"], "tests/x.yaml": ["z"] * 3, "docs/a.md": ["t"]}
    found = weigh.lines_of({"spec/a.py": ["x"] * 700, "spec/b.py": ["x"] * 39, **short})
    assert found["shipped Python", "spec"] == Counter(lines=740, files=3, small=1, large=1)
    assert found["tests data", "tests"] == Counter(lines=3, files=1)
    assert len(found) == 2


def test_seconds_are_those_of_the_run_by_tier(tmp_path: Path) -> None:
    cases: list[tuple[str, str, float]] = [
        ("tests.spec.test_quantities", "test_a", 1),
        ("tests.sandbox.test_elastic.TestSome", "test_b[1]", 20),
        ("tests.tools.test_weigh", "test_c", 0.5),
        ("gone.test_x", "test_d", 9),
    ]
    rows = "".join(f'<testcase classname="{place}" name="{name}" time="{time}"/>' for place, name, time in cases)
    (file := tmp_path / "tests.xml").write_text(f"<testsuites><testsuite>{rows}</testsuite></testsuites>")
    assert weigh.seconds(file) == (str(file), {"test-fast": 1, "what test-all adds": 20, "the rest of test": 0.5})
    source, rest = weigh.seconds(tmp_path / "none.xml")
    assert "slow.yaml" in source
    assert rest["what test-all adds"] > 60


def test_the_report_has_every_package_and_every_example(capsys: Any, tmp_path: Path) -> None:
    assert weigh.main(["--junit", str(tmp_path / "none.xml")]) == 0
    text = capsys.readouterr().out
    for word in (*weigh.SHIPPED, *(example.name for example in weigh.EXAMPLES), "tests Python", "Go"):
        assert word in text
