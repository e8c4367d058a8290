"""`SLIPWAY_TODAY`: a stack as it will be on another day."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from slipway.cli import checks, main
from slipway.findings import Level
from spec import clock
from spec.catalog import ageing, kubernetes
from spec.settings import load, read_stack
from tests.support.day import TODAY


def test_a_check_at_another_day_names_what_goes_out_of_support_by_then(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    version = load(read_stack("dev", checkout / "stacks"), stack="dev").platform.cluster.version
    end = kubernetes.VERSIONS[version].standard_until
    assert main(["check", "dev", "--strict"]) == 0
    capsys.readouterr()
    monkeypatch.setenv(clock.VARIABLE, (end + timedelta(days=1)).isoformat())
    assert main(["check", "dev"]) == 0
    assert f"standard support ended on {end}" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["check", "dev"], ["cost", "dev"], ["policies", "dev"], ["doctor"]])
def test_a_wrong_day_is_refused_by_its_name(
    command: list[str], checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(clock.VARIABLE, "April")
    assert main(command) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("slipway: SLIPWAY_TODAY: ")
    assert "(given: 'April'). Write it like 2027-04-01" in err


def test_doctor_shows_a_day_that_is_not_the_current_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "current", lambda: TODAY)
    assert checks.day(TODAY).level is Level.OK
    finding = checks.day(date(2027, 4, 1))
    assert finding.level is Level.NOTE
    assert finding.state == "2027-04-01, by SLIPWAY_TODAY"
    assert "unset SLIPWAY_TODAY" in finding.fix


def test_doctor_names_files_with_old_facts_and_fails_for_none() -> None:
    assert checks.catalog([]).level is Level.OK
    finding = checks.catalog(ageing.ageing(date(2100, 1, 1)))
    assert finding.level is Level.NOTE
    assert "kubernetes.yaml" in finding.state
    assert "prices.yaml" in finding.state
    assert "slipway prices refresh" in finding.fix
