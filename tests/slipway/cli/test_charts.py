"""`slipway charts`."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from slipway.charts.check import Finding, check, record
from slipway.charts.pull import Pulled
from slipway.charts.uses import Use
from slipway.cli import charts
from slipway.cli.parser import parse
from spec.catalog.charts import ChartRef
from spec.errors import SlipwayError
from tests.slipway.sandbox.kubernetes.helm.charts import write_chart

REF = ChartRef(chart="widget", repository="https://c.example", version="1.2.3", released=date(2026, 9, 1), source="s")


def use(**values: object) -> dict[str, list[Use]]:
    return {"widget": [Use(release="one", chart="widget", version="1.2.3", values=values)]}


def test_a_value_that_the_chart_does_not_take_is_told_with_its_release(tmp_path: Path) -> None:
    write_chart(tmp_path)
    (finding,) = check(use(replicsa=1), tmp_path)
    assert finding.problems == ('one: values.replicsa: chart widget 1.2.3 has no such value; did you mean "replicas"?',)
    text = charts.describe_findings([finding])
    assert "1 value that it does not take" in text
    assert finding.problems[0] in text
    assert record([finding]) == {}


def test_keys_that_were_found_are_written_down_for_the_version_that_is_asked_for(tmp_path: Path) -> None:
    write_chart(tmp_path)
    made = record(check(use(replicas=1, controller={"podLabels": {"x": "y"}}), tmp_path))
    assert made["widget"].version == "1.2.3"
    assert made["widget"].keys == {"replicas", "controller/podLabels"}


def test_another_version_is_told_and_not_written_down(tmp_path: Path) -> None:
    write_chart(tmp_path, version="9.9.9")
    findings = check(use(replicas=1), tmp_path)
    assert "in 9.9.9, which is another version" in charts.describe_findings(findings)
    assert record(findings) == {}


def test_a_chart_that_is_not_at_hand_is_said_to_be_unchecked(tmp_path: Path) -> None:
    findings = check(use(replicas=1), tmp_path)
    assert "not at hand: nothing was checked" in charts.describe_findings(findings)
    assert record(findings) == {}


def test_what_a_cloud_will_know_is_no_problem(tmp_path: Path) -> None:
    write_chart(tmp_path, schema={"properties": {"replicas": {"type": "integer"}}})
    (finding,) = check(use(replicas=object()), tmp_path)
    assert finding.problems == ()


def test_a_chart_that_could_not_be_got_is_told_with_the_way_out() -> None:
    text = charts.describe_pulled([Pulled(chart=REF, folder=Path("/c/widget"), problem="no such host")], Path("/c"))
    assert "not got: widget 1.2.3 from https://c.example: no such host" in text
    assert "HTTPS_PROXY" in text


def test_the_folder_is_asked_for_where_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLIPWAY_CHARTS", raising=False)
    options = parse(["charts", "check"])
    with pytest.raises(SlipwayError, match="Give --dir DIR, or set SLIPWAY_CHARTS"):
        options.run(options)


def test_a_folder_that_is_not_there_is_refused_with_the_way_out(tmp_path: Path) -> None:
    options = parse(["charts", "check", "--dir", str(tmp_path / "none")])
    with pytest.raises(SlipwayError, match="slipway charts pull --dir"):
        options.run(options)


def test_a_chart_that_the_platform_does_not_use_is_not_got(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slipway.toolchain.find", lambda _name: tmp_path / "helm")
    options = parse(["charts", "pull", "kueu", "--dir", str(tmp_path)])
    with pytest.raises(SlipwayError, match=r"kueu is no chart of the platform; there are .*kueue"):
        options.run(options)


def test_a_finding_is_verified_only_where_all_of_it_is() -> None:
    good = Finding(chart="c", version="v1", at_hand="1")
    assert good.verified
    assert not Finding(chart="c", version="v1", at_hand=None).verified
    assert not Finding(chart="c", version="v1", at_hand="1", problems=("x",)).verified
