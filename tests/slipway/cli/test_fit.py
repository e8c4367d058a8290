"""`slipway fit`, from a line to its exit code."""

import json

import pytest

from slipway.cli import main

SERVE = ("fit", "--model", "llama-3.1-8b", "--mode", "serve", "--seq", "131072")
"""Beyond an L4 and every slice: of the stacks' pools it needs an H100."""


def test_it_names_the_cheapest_place_of_a_stack(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SERVE, "--stack", "prod"]) == 0
    assert "On 1 x H100-80GB of h100, each:" in capsys.readouterr().out


def test_programs_get_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SERVE, "--stack", "prod", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["choices"][0]["pool"], found["choices"][0]["units"]) == ("h100", 1)


def test_without_a_stack_it_looks_through_the_catalog(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SERVE]) == 0
    assert "g6e.xlarge" in capsys.readouterr().out


def test_where_nothing_holds_it_the_code_says_so_and_the_text_what_would(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "--params", "70B", "--mode", "train", "--seq", "4096", "--stack", "dev"]) == 1
    assert "No place holds it.\nIt would with" in capsys.readouterr().out


def test_a_wrong_line_is_refused_with_everything_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "--params", "7B", "--mode", "train", "--seq", "0", "--precision", "bf17"]) == 2
    assert "slipway fit: 2 problems" in capsys.readouterr().err
