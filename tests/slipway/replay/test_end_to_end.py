"""A small trace on stack dev, from the command to the page, by the engine itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sandbox.toolchain import locate
from slipway.cli import main
from tests.slipway.replay.examples import TRACE


@pytest.mark.skipif(locate.find("replay") is None, reason="not built: run `python -m sandbox.toolchain ensure replay`")
def test_a_trace_on_dev_is_decided_by_upstream(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "jobs.csv", tmp_path / "out"
    path.write_text(TRACE)
    assert main(["replay", "dev", "--trace", str(path), "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "kueue: v0.19.2; scheduler: v1.36.3; nodes: model, " in " ".join(shown.split())
    found = json.loads((out / "replay.json").read_text())
    assert found["jobs"] == {"submitted": 5, "finished": 4, "running": 0, "pending": 0, "refused": 1}
    assert (found["cut"], found["cutBy"]) == (False, "")
    # The sweep waits for the training job's GPUs: 150 s for its nodes, an hour, and a second until Kueue looks again.
    longest = found["longest"][0]
    assert (longest["job"], longest["waited"], longest["layer"]) == ("sweep", 150 + 3600 + 1 - 120, "queue")
    assert longest["why"].startswith("job/sweep waits in its queue")
    pools = {one["name"]: one for one in found["pools"]}
    assert pools["h100"]["mostNodes"] == 2
    assert pools["h100"]["gpuHoursBusy"] == pytest.approx((2 * 3600 + 600) / 3600, rel=1e-3)
    assert 0 < pools["h100"]["idleUsd"] < pools["h100"]["usd"]
