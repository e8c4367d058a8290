from __future__ import annotations

import json

import pytest

from slipway.cli import main


def test_limits_are_shown_without_a_sandbox(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "status", "--limits", "logGroup"]) == 0
    out = capsys.readouterr().out
    assert "put_retention_policy.retentionInDays" in out
    assert "InvalidParameterException: Days of retention are some of a list [CloudWatch Logs API" in out
    assert out.splitlines()[-1].startswith("1 types, 9 inputs")


def test_limits_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "status", "--limits", "iam/role:", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert {one["type"] for one in shown} == {"aws:iam/role:Role"}
    assert "create_role.RoleName" in {one["parameter"] for one in shown}


def test_an_unknown_type_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "status", "--limits", "kluster"]) == 1
    assert "no AWS type with a table of limits contains 'kluster'" in capsys.readouterr().err
