"""Downloading charts, with a fake helm, and what `slipway catalog` says."""

import io
import re
import stat
import tarfile
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from sandbox.kubernetes.helm.chart import Charts
from slipway.charts import pull
from slipway.charts.check import Verified, check, record
from slipway.charts.pull import Pulled
from slipway.charts.uses import Use
from slipway.cli import charts
from slipway.cli.parser import parse
from spec import strict_yaml
from spec.catalog.software import ChartRef
from spec.errors import SlipwayError
from tests.sandbox.kubernetes.helm.charts import write_chart

DAY = date(2026, 9, 1)
WIDGET = ChartRef(name="widget", repository="https://charts.example", version="v1.2.3", released=DAY, source="s")
OCI = ChartRef(name="thing", repository="oci://registry.example/charts", version="2.0.0", released=DAY, source="s")
DOWNLOADS = """\
#!/bin/sh
echo "$@" >> {log}
name=$(basename $2)
while [ $# -gt 0 ]; do [ "$1" = --destination ] && into=$2; shift; done
mkdir -p {log}.$name/$name
echo "{{name: $name, version: 0.0.0}}" > {log}.$name/$name/Chart.yaml
tar -czf $into/$name-0.0.0.tgz -C {log}.$name $name
"""
FAILS = """\
#!/bin/sh
echo 'WARNING: something' >&2
echo 'Error: dial tcp: lookup charts.example: no such host' >&2
exit 1
"""


def helm(folder: Path, text: str) -> Path:
    file = folder / "helm"
    file.write_text(text.format(log=folder / "log") if "{log}" in text else text)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def test_a_chart_is_requested_by_repository_or_by_oci_address() -> None:
    into = Path("/x")
    assert pull.arguments(WIDGET, into) == [
        "pull", "widget", "--repo", "https://charts.example", "--version", "v1.2.3",
        "--destination", "/x",
    ]  # fmt: skip
    assert pull.arguments(OCI, into)[:4] == ["pull", "oci://registry.example/charts/thing", "--version", "2.0.0"]


def test_a_downloaded_chart_is_found_in_the_requested_version(tmp_path: Path) -> None:
    to = tmp_path / "charts"
    done = pull.pull(helm(tmp_path, DOWNLOADS), [WIDGET, OCI], to)
    assert [each.problem for each in done] == ["", ""]
    chart = Charts(to).find("widget", "v1.2.3")
    assert chart is not None
    assert chart.version == "v1.2.3"
    assert sorted(path.name for path in to.iterdir()) == ["thing", "widget"]


def test_the_folder_of_a_chart_is_replaced(tmp_path: Path) -> None:
    to = tmp_path / "charts"
    (to / "widget").mkdir(parents=True)
    (to / "widget" / "old.yaml").write_text("gone")
    pull.pull(helm(tmp_path, DOWNLOADS), [WIDGET], to)
    assert not (to / "widget" / "old.yaml").exists()


def test_the_last_line_of_helms_error_is_reported_and_the_old_chart_is_kept(tmp_path: Path) -> None:
    to = tmp_path / "charts"
    (to / "widget").mkdir(parents=True)
    (to / "widget" / "Chart.yaml").write_text("name: widget")
    (done,) = pull.pull(helm(tmp_path, FAILS), [WIDGET], to)
    assert done.problem == "Error: dial tcp: lookup charts.example: no such host"
    assert [path.name for path in to.iterdir()] == ["widget"]
    assert (to / "widget" / "Chart.yaml").read_text() == "name: widget"


def test_a_timeout_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pull, "SECONDS", 0.1)
    (done,) = pull.pull(helm(tmp_path, "#!/bin/sh\nexec sleep 5\n"), [WIDGET], tmp_path / "charts")
    assert done.problem == "no response within 0.1 s"


def test_a_chart_with_another_digest_than_the_pinned_one_is_refused(tmp_path: Path) -> None:
    program, to = helm(tmp_path, DOWNLOADS), tmp_path / "charts"
    (done,) = pull.pull(program, [WIDGET], to)
    stated = re.search("^chart_digest: (sha256:[0-9a-f]{64})$", (to / "widget/SOURCE.txt").read_text(), re.MULTILINE)
    assert stated
    assert done.problem == ""
    (to / "widget" / "kept").touch()
    (done,) = pull.pull(program, [replace(WIDGET, digest=f"sha256:{64 * '0'}")], to)
    assert done.problem.startswith("its digest is sha256:")
    assert (to / "widget" / "kept").exists()


def test_digests_of_first_downloads_are_written_into_the_rows_without_one(tmp_path: Path) -> None:
    text = (
        "# Charts\nwidget:\n  source: s\n  version: v1.2.3\n  date: d\nthing:\n  version: 2.0.0\nlast:\n  version: 1\n"
    )
    pulled = pull.pull(helm(tmp_path, DOWNLOADS), [WIDGET, OCI], tmp_path / "charts")
    digest = {one.chart.name: one.digest for one in pulled}
    assert digest == {name: pull.stated_digest(tmp_path / "charts" / name) for name in ("widget", "thing")}
    locked = pull.locked(text, pulled)
    assert locked == text.replace("v1.2.3\n", f"v1.2.3\n  digest: {digest['widget']}\n").replace(
        "2.0.0\n", f"2.0.0\n  digest: {digest['thing']}\n"
    )
    pinned = [replace(one, chart=replace(one.chart, digest=one.digest)) for one in pulled]
    assert pull.locked(locked, pinned) == locked
    assert pull.locked(text, [replace(one, problem="no", digest="") for one in pulled]) == text


def test_the_real_rows_take_a_digest() -> None:
    text = charts.SOFTWARE_FILE.read_text(encoding="utf-8")
    every = [replace(pull.Pulled(chart=one, folder=Path()), digest=f"sha256:{64 * '0'}") for one in pull.pinned()]
    rows = strict_yaml.read(pull.locked(text, every))
    assert all(rows[one.name].get("digest") for one in pull.pinned())


def test_an_archive_that_writes_outside_its_folder_is_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "archive.tgz", "w:gz") as archive:
        for name in ("widget/Chart.yaml", "../../evil"):
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    copies = f'#!/bin/sh\nwhile [ "$1" != --destination ]; do shift; done\ncp {tmp_path}/archive.tgz $2/widget-1.tgz\n'
    (done,) = pull.pull(helm(tmp_path, copies), [WIDGET], tmp_path / "charts")
    assert "outside" in done.problem
    assert not list(tmp_path.rglob("evil"))


def test_every_pinned_chart_has_a_unique_name() -> None:
    names = [chart.name for chart in pull.pinned()]
    assert names == sorted(set(names))
    assert {"kueue", "karpenter", "kserve-resources"} <= set(names)


# `slipway catalog`.


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
