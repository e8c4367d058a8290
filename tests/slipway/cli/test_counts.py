"""Every command counts the same resources: those that exist in AWS or a cluster, without components and providers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from slipway.cli import main
from slipway.engine.state import parse
from slipway.render.program import record_platform
from slipway.report.gather import Inputs, report
from spec.pricing import estimate
from spec.settings import load, read_stack
from tests.support.day import TODAY
from tests.support.mocks import UNKNOWN as _UNKNOWN  # noqa: F401 - imports the parts of the SDK that emit warnings


def test_policies_render_report_and_state_count_the_same_resources(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded = load(read_stack("dev", checkout / "stacks"), stack="dev", today=TODAY)
    recording = record_platform(loaded.platform, stack="dev")
    entries = [{"urn": one.urn, "type": one.type, "custom": one.custom} for one in recording]
    existing = len(parse(json.dumps({"version": 3, "deployment": {"resources": entries}})).existing)
    assert 0 < existing < len(entries)
    assert main(["policies", "dev"]) == 0
    assert re.findall(r"stack dev: (\d+) resources", capsys.readouterr().err) == [str(existing)]
    assert main(["render", "dev", "--out", str(tmp_path / "out")]) == 0
    assert re.findall(r"stack dev: (\d+) resources", capsys.readouterr().out) == [str(existing)]
    priced = estimate(loaded.platform, TODAY)
    inputs = Inputs(stack="dev", loaded=loaded, recording=recording, estimate=priced, violations=(), today=TODAY)
    assert report(inputs).resources == existing
