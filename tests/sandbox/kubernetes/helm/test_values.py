"""Values of a release against those of its chart, and the arguments with which Helm runs."""

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from sandbox.kubernetes.helm import values
from sandbox.kubernetes.helm.chart import Charts
from sandbox.kubernetes.helm.values import merged, problems, schema_problems
from sandbox.kubernetes.validation import PLACEHOLDER
from tests.sandbox.kubernetes.helm.charts import CONFIG_MAP, chart_at, write_chart
from tests.support.cases import beside

CASES: Final = beside(__file__)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"replicas": 3, "controller": {"image": {"tag": "v2"}}},
        {"replicas": None},
        # The default is empty: any key is accepted.
        {"controller": {"extra": {"a": {"b": 1}}}},
        # Maps that accept any key, by their name.
        {"controller": {"podLabels": {"team": "ml"}, "nodeSelector": {"pool": "system"}}},
        # Documented in a comment, without a default.
        {"controller": {"priorityClassName": "x"}},
        {"controller": {"depth": 1}},
        {"global": {"imageRegistry": "example.com"}},
        {"controller": PLACEHOLDER},
    ],
)
def test_values_that_the_chart_has_are_accepted(tmp_path: Path, values: dict[str, Any]) -> None:
    assert problems(chart_at(write_chart(tmp_path)), values) == []


@pytest.mark.parametrize(("values", "problem"), CASES["unknown values are reported with a suggestion"])
def test_unknown_values_are_reported_with_a_suggestion(tmp_path: Path, values: dict[str, Any], problem: str) -> None:
    found = problems(chart_at(write_chart(tmp_path)), values)
    assert len(found) == 1
    assert found[0].startswith(problem)


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    assert len(problems(chart_at(write_chart(tmp_path)), {"a": 1, "controller": {"b": 2, "image": {"c": 3}}})) == 3


@pytest.mark.parametrize(("template", "values"), CASES["a value that a template reads needs no default"])
def test_a_value_that_a_template_reads_needs_no_default(tmp_path: Path, template: str, values: dict[str, Any]) -> None:
    assert problems(chart_at(write_chart(tmp_path / "with", templates={"a.yaml": template})), values) == []
    assert problems(chart_at(write_chart(tmp_path / "without", templates={"a.yaml": CONFIG_MAP})), values) != []


def test_a_value_of_the_schema_needs_no_default(tmp_path: Path) -> None:
    schema = {"properties": {"controller": {"properties": {"verbosity": {"type": "integer"}}}}}
    chart = chart_at(write_chart(tmp_path, schema=schema))
    assert problems(chart, {"controller": {"verbosity": 1}}) == []
    assert problems(chart, {"controller": {"verbosities": 1}}) != []


def test_values_of_a_packed_subchart_are_checked(tmp_path: Path) -> None:
    dependencies = [
        {"name": "store", "alias": "db", "version": "1", "condition": "db.enabled,features.store"},
        {"name": "cache", "version": "1"},
    ]
    path = write_chart(tmp_path, dependencies=dependencies)
    write_chart(path / "charts", "store", values="size: 1\n")
    chart = chart_at(path)
    assert problems(chart, {"db": {"size": 2, "enabled": True}, "cache": {"any": 1}, "features": {"store": True}}) == []
    assert problems(chart, {"tags": {"backend": True}}) == []
    found = problems(chart, {"db": {"sise": 2}})
    assert found == ['values.db.sise: chart store 1.2.3 has no such value; did you mean "size"?']


def test_every_shared_chart_accepts_its_own_defaults(shared: Path) -> None:
    charts = Charts(shared / "charts")
    found = {}
    for path in sorted((shared / "charts").iterdir()):
        chart = charts.find(str(path))
        if chart is not None:
            found[path.name] = problems(chart, yaml.load(chart.values_text, yaml.CSafeLoader) or {})
    assert len(found) > 20
    assert {name: lines for name, lines in found.items() if lines} == {}


SCHEMA = CASES["schema"]
VALUES = "replicas: 1\nnested: {depth: 1}\n"


@pytest.mark.parametrize(("values", "start"), CASES["a violation of the schema is reported by path"])
def test_a_violation_of_the_schema_is_reported_by_path(tmp_path: Path, values: dict[str, Any], start: str) -> None:
    (found,) = schema_problems(chart_at(write_chart(tmp_path, values=VALUES, schema=SCHEMA)), values)
    assert found.startswith(start)


def test_a_key_that_is_not_allowed_is_reported_with_a_suggestion(tmp_path: Path) -> None:
    (found,) = schema_problems(chart_at(write_chart(tmp_path, values=VALUES, schema=SCHEMA)), {"nested": {"deepth": 2}})
    assert found.endswith('did you mean "depth"?')


@pytest.mark.parametrize("values", [{}, {"mode": "safe"}, {"mode": PLACEHOLDER}, {"replicas": PLACEHOLDER}])
def test_valid_and_unknown_values_are_accepted(tmp_path: Path, values: dict[str, Any]) -> None:
    assert schema_problems(chart_at(write_chart(tmp_path, values=VALUES, schema=SCHEMA)), values) == []


def test_a_chart_without_a_schema_refuses_nothing(tmp_path: Path) -> None:
    assert schema_problems(chart_at(write_chart(tmp_path)), {"anything": 1}) == []


@pytest.mark.parametrize(("defaults", "values", "expected"), CASES["values are merged like helm"])
def test_values_are_merged_like_helm(
    defaults: dict[str, Any], values: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert merged(defaults, values) == expected


NAMED: dict[str, Any] = {"name": "one", "namespace": "team"}


def test_helm_waits_until_the_sandbox_interrupts_it() -> None:
    expected = ["install", "one", "/chart", "--namespace", "team", "--timeout", "24h", "--wait", "--skip-crds"]
    assert values.install_arguments(NAMED, "/chart") == expected
    assert values.uninstall_arguments(NAMED) == ["uninstall", "one", "--namespace", "team", "--wait", "--timeout",
        "24h"]  # fmt: skip
    assert values.limit(NAMED) == 300.0


def test_the_platforms_releases_are_atomic_and_clean_up() -> None:
    inputs = {**NAMED, "atomic": True, "cleanupOnFail": True, "timeout": 600}
    assert values.install_arguments(inputs, "/chart")[-1] == "--atomic"
    assert values.limit(inputs) == 600.0
    assert "--cleanup-on-fail" not in values.install_arguments(inputs, "/chart")
    assert values.upgrade_arguments(inputs, "/chart")[-4:] == ["--history-max", "0", "--atomic", "--cleanup-on-fail"]


@pytest.mark.parametrize(("inputs", "install", "upgrade"), CASES["inputs become arguments"])
def test_inputs_become_arguments(inputs: dict[str, Any], install: list[str], upgrade: list[str]) -> None:
    plain = (values.install_arguments(NAMED, "/c"), values.upgrade_arguments(NAMED, "/c"))
    found = (values.install_arguments({**NAMED, **inputs}, "/c"), values.upgrade_arguments({**NAMED, **inputs}, "/c"))
    for which, (before, after, expected) in enumerate(zip(plain, found, (install, upgrade), strict=True)):
        added = [each for each in after if each not in before]
        assert added == [each for each in expected if each not in before], which
        assert all(each in after for each in expected), which


def test_without_awaiting_nothing_waits_unless_the_release_is_atomic() -> None:
    inputs = {**NAMED, "skipAwait": True, "waitForJobs": True}
    assert not {"--wait", "--wait-for-jobs"} & set(values.install_arguments(inputs, "/c"))
    assert values.uninstall_arguments(inputs) == ["uninstall", "one", "--namespace", "team"]
    assert "--wait" in values.uninstall_arguments({**inputs, "atomic": True})
