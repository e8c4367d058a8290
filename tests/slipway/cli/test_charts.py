"""`slipway charts`."""

from datetime import date
from pathlib import Path

import pytest

from slipway.charts.check import ChartFinding, Verified, check, record
from slipway.charts.pull import Pulled
from slipway.charts.uses import Use
from slipway.cli import charts
from slipway.cli.parser import parse
from spec.catalog.software import ChartRef
from spec.errors import SlipwayError
from tests.sandbox.kubernetes.helm.charts import write_chart

REF = ChartRef(name="widget", repository="https://c.example", version="1.2.3", released=date(2026, 9, 1), source="s")


def use(**values: object) -> dict[str, list[Use]]:
    return {"widget": [Use(release="one", chart="widget", version="1.2.3", values=values)]}


def test_an_unsupported_value_is_reported_with_its_release(tmp_path: Path) -> None:
    write_chart(tmp_path)
    (finding,) = check(use(replicsa=1), tmp_path)
    assert finding.problems == ('one: values.replicsa: chart widget 1.2.3 has no such value; did you mean "replicas"?',)
    text = charts.describe_findings([finding])
    assert "1 unsupported value" in text
    assert finding.problems[0] in text
    assert record([finding]) == {}


def test_verified_keys_are_recorded_for_the_requested_version(tmp_path: Path) -> None:
    write_chart(tmp_path)
    recorded = record(check(use(replicas=1, controller={"podLabels": {"x": "y"}}), tmp_path))
    assert recorded["widget"].version == "1.2.3"
    assert recorded["widget"].keys == {"replicas", "controller/podLabels"}


def test_the_record_keeps_pinned_charts_that_were_not_checked(tmp_path: Path) -> None:
    write_chart(tmp_path)
    old = Verified(version="1", keys=frozenset())
    after = charts.recorded({"kueue": old, "removed": old}, check(use(replicas=1), tmp_path))
    assert after == {"kueue": old, "widget": Verified(version="1.2.3", keys=frozenset({"replicas"}))}


def test_another_chart_version_is_reported_and_not_recorded(tmp_path: Path) -> None:
    write_chart(tmp_path, version="9.9.9")
    findings = check(use(replicas=1), tmp_path)
    assert "supports every value, checked in version 9.9.9" in charts.describe_findings(findings)
    assert record(findings) == {}


def test_a_missing_chart_is_reported_as_unchecked(tmp_path: Path) -> None:
    findings = check(use(replicas=1), tmp_path)
    assert "chart not available: nothing was checked" in charts.describe_findings(findings)
    assert record(findings) == {}


def test_a_value_known_only_after_the_update_is_not_a_problem(tmp_path: Path) -> None:
    write_chart(tmp_path, schema={"properties": {"replicas": {"type": "integer"}}})
    (finding,) = check(use(replicas=object()), tmp_path)
    assert finding.problems == ()


def test_a_failed_download_is_reported_with_a_fix() -> None:
    text = charts.describe_pulled([Pulled(chart=REF, folder=Path("/c/widget"), problem="no such host")], Path("/c"))
    assert "failed: widget 1.2.3 from https://c.example: no such host" in text
    assert "HTTPS_PROXY" in text


def test_a_chart_that_the_platform_does_not_use_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.toolchain.find", lambda _name: tmp_path / "helm")
    options = parse(["charts", "pull", "kueu", "--dir", str(tmp_path)])
    with pytest.raises(SlipwayError, match=r"kueu is not a chart of the platform\. Choose from .*kueue"):
        options.run(options)


def test_a_finding_is_verified_only_with_the_right_version_and_no_problem() -> None:
    assert ChartFinding(chart="c", version="v1", available="1").verified
    assert not ChartFinding(chart="c", version="v1", available=None).verified
    assert not ChartFinding(chart="c", version="v1", available="1", problems=("x",)).verified
