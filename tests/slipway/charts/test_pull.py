"""Getting charts, with a helm made by the test."""

from __future__ import annotations

import stat
from datetime import date
from pathlib import Path

import pytest

from slipway.charts import pull
from slipway.sandbox.kubernetes.helm.chart import Charts
from spec.catalog.charts import ChartRef

DAY = date(2026, 9, 1)
WIDGET = ChartRef(chart="widget", repository="https://charts.example", version="v1.2.3", released=DAY, source="s")
OCI = ChartRef(chart="oci://registry.example/charts/thing", version="2.0.0", released=DAY, source="s")
GETS = """\
#!/bin/sh
echo "$@" >> {log}
while [ $# -gt 0 ]; do [ "$1" = --untardir ] && into=$2; shift; done
mkdir -p $into/widget $into/thing
echo '{{name: widget, version: 0.0.0}}' > $into/widget/Chart.yaml
echo '{{name: thing, version: 2.0.0}}' > $into/thing/Chart.yaml
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


def test_a_chart_is_asked_for_by_repository_or_by_address() -> None:
    into = Path("/x")
    assert pull.arguments(WIDGET, into) == [
        "pull", "widget", "--repo", "https://charts.example", "--version", "v1.2.3", "--untar", "--untardir", "/x"
    ]  # fmt: skip
    assert pull.arguments(OCI, into)[:4] == ["pull", "oci://registry.example/charts/thing", "--version", "2.0.0"]


def test_a_chart_that_was_got_is_found_in_the_version_that_was_asked_for(tmp_path: Path) -> None:
    to = tmp_path / "charts"
    done = pull.pull(helm(tmp_path, GETS), [WIDGET, OCI], to)
    assert [each.problem for each in done] == ["", ""]
    chart = Charts(to).find("widget", "v1.2.3")
    assert chart is not None
    assert chart.version == "v1.2.3"
    assert sorted(path.name for path in to.iterdir()) == ["thing", "widget"]


def test_a_folder_is_replaced_as_a_whole(tmp_path: Path) -> None:
    to = tmp_path / "charts"
    (to / "widget").mkdir(parents=True)
    (to / "widget" / "old.yaml").write_text("gone")
    pull.pull(helm(tmp_path, GETS), [WIDGET], to)
    assert not (to / "widget" / "old.yaml").exists()


def test_what_helm_said_last_is_told_and_the_old_chart_stays(tmp_path: Path) -> None:
    to = tmp_path / "charts"
    (to / "widget").mkdir(parents=True)
    (to / "widget" / "Chart.yaml").write_text("name: widget")
    (done,) = pull.pull(helm(tmp_path, FAILS), [WIDGET], to)
    assert done.problem == "Error: dial tcp: lookup charts.example: no such host"
    assert [path.name for path in to.iterdir()] == ["widget"]
    assert (to / "widget" / "Chart.yaml").read_text() == "name: widget"


def test_no_answer_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pull, "SECONDS", 0.1)
    (done,) = pull.pull(helm(tmp_path, "#!/bin/sh\nexec sleep 5\n"), [WIDGET], tmp_path / "charts")
    assert done.problem == "no answer within 0.1 s"


def test_every_pin_has_a_name_of_its_own() -> None:
    names = [chart.name for chart in pull.pinned()]
    assert names == sorted(set(names))
    assert {"kueue", "karpenter", "kserve-resources"} <= set(names)
