"""What `make weigh` counts, and that what one thing costs stays within what CONTRIBUTING calls normal."""

import pytest

from tools import weigh

NORMAL = {"add-on": 120, "policy rule": 40, "AWS type": 40, "instance type": 2}
"""Maximum lines by the beginning of an example's kind (CONTRIBUTING)."""


@pytest.fixture(scope="module")
def texts() -> dict[str, list[str]]:
    return weigh.tracked()


@pytest.mark.parametrize("example", weigh.EXAMPLES, ids=lambda example: example.name)
def test_one_more_costs_what_is_normal(texts: dict[str, list[str]], example: weigh.Example) -> None:
    (most,) = (lines for kind, lines in NORMAL.items() if example.kind.startswith(kind))
    price = weigh.cost(texts, example.names)
    assert price.defined, f"nothing defines {example.name}: correct EXAMPLES in tools/weigh.py"
    assert price.lines <= most, f"{example.kind}, {example.name}: {price}"


def test_code_is_what_is_no_blank_comment_docstring_or_import() -> None:
    module = ['"""What."""', "import os", "from a import (", "    b,", ")", "", "# why", "x = (", '    "text"', ")"]
    function = ["def f() -> int:", '    """What."""', "    import re", "    return 1  # one"]
    assert weigh.code(module) == 3
    assert weigh.code([*module, *function]) == 5


def test_no_package_has_more_code_than_its_cap(texts: dict[str, list[str]]) -> None:
    written, caps = weigh.code_of(texts), weigh.caps()
    assert set(written) == set(caps)
    above = {package: f"{written[package]} of {most}" for package, most in caps.items() if written[package] > most}
    assert not above, f"take something out, or raise tool.weigh.caps in a commit that says why: {above}"


def test_the_report_has_every_package_and_every_example() -> None:
    text = "\n".join(weigh.report())
    for word in (*weigh.SHIPPED, *(example.name for example in weigh.EXAMPLES), "tests Python", "Go"):
        assert word in text
