"""`slipway fit`, from the command line to the exit code."""

import json

import pytest

from slipway.cli import main

SERVE = ("fit", "--model", "llama-3.1-8b", "--mode", "serve", "--seq", "131072")
"""Too large for an L4 or a MIG instance: among the stacks' pools, only an H100 holds it."""


def test_the_cheapest_pool_of_a_stack_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SERVE, "--stack", "prod"]) == 0
    assert "Memory per unit on 1 x H100-80GB of h100:" in capsys.readouterr().out


def test_json_has_the_same_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SERVE, "--stack", "prod", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["choices"][0]
    assert (first["pool"], first["units"]) == ("h100", 1)


def test_without_a_stack_the_whole_catalog_is_searched(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SERVE]) == 0
    assert "g6e.xlarge" in capsys.readouterr().out


def test_a_model_that_fits_nowhere_fails_with_hints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "--params", "70B", "--mode", "train", "--seq", "4096", "--stack", "dev"]) == 1
    assert "It fits nowhere.\nIt would fit with" in capsys.readouterr().out


def test_an_invalid_command_line_is_refused_with_every_problem(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "--params", "7B", "--mode", "train", "--seq", "0", "--precision", "bf17"]) == 2
    assert "slipway fit: 2 problems" in capsys.readouterr().err
