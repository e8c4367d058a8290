"""Charts and their YAML."""

from pathlib import Path

import pytest
import yaml

from sandbox.errors import SandboxError
from sandbox.kubernetes.helm import text
from sandbox.kubernetes.helm.chart import Charts, packaged
from sandbox.kubernetes.helm.text import documents, mapping
from sandbox.kubernetes.objects import Object
from tests.sandbox.kubernetes.helm.charts import chart_at, write_chart
from tests.sandbox.plane import crd


@pytest.mark.parametrize(
    "reference", ["widget", "stable/widget", "oci://registry.example.com/charts/widget", "oci://example.com/widget/"]
)
def test_a_chart_is_found_by_the_last_part_of_its_reference(tmp_path: Path, reference: str) -> None:
    write_chart(tmp_path)
    found = Charts(tmp_path).find(reference)
    assert found is not None
    assert (found.name, found.version, found.app_version) == ("widget", "1.2.3", "v1.2")


def test_a_folder_may_have_another_name_than_its_chart(tmp_path: Path) -> None:
    write_chart(tmp_path, "folder")
    (tmp_path / "folder" / "Chart.yaml").write_text("name: inner\nversion: 1.0.0\n")
    for reference in ("folder", "inner"):
        assert Charts(tmp_path).find(reference) is not None


def test_the_requested_version_is_preferred(tmp_path: Path) -> None:
    for version in ("1.0.0", "2.0.0"):
        path = write_chart(tmp_path, f"widget-{version}")
        (path / "Chart.yaml").write_text(f"name: widget\nversion: v{version}\n")
    for version in ("2.0.0", "v2.0.0"):
        found = Charts(tmp_path).find("widget", version)
        assert found is not None
        assert found.version == "v2.0.0"
    assert Charts(tmp_path).find("widget", "9.9.9") is not None


@pytest.mark.parametrize("directory", [None, Path("/no/such/directory")])
def test_without_charts_none_is_found(directory: Path | None) -> None:
    assert Charts(directory).find("widget") is None


def test_a_local_path_works_without_a_charts_directory(tmp_path: Path) -> None:
    assert Charts(None).find(str(write_chart(tmp_path))) is not None


def test_crds_include_those_of_packed_subcharts(tmp_path: Path) -> None:
    path = write_chart(
        tmp_path, definitions=[crd("a.test", "A", {}), {"kind": "ConfigMap", "metadata": {"name": "no"}}]
    )
    write_chart(path / "charts", "sub", definitions=[crd("b.test", "B", {})])
    assert [each["metadata"]["name"] for each in chart_at(path).crds] == ["as.a.test", "bs.b.test"]


def test_a_changed_chart_is_read_again(tmp_path: Path) -> None:
    path = write_chart(tmp_path)
    assert chart_at(path).version == "1.2.3"
    (path / "Chart.yaml").write_text("name: widget\nversion: 2.0.0\n")
    assert chart_at(path).version == "2.0.0"


@pytest.mark.parametrize(
    ("file", "text", "attribute", "said"),
    [
        ("values.yaml", "a: [", "defaults", r"values\.yaml is not valid YAML"),
        ("values.schema.json", "{", "schema", r"values\.schema\.json"),
        ("crds/x.yaml", "a: [", "crds", r"crds/x\.yaml is not valid YAML"),
    ],
)
def test_a_broken_file_is_reported_by_name(tmp_path: Path, file: str, text: str, attribute: str, said: str) -> None:
    path = write_chart(tmp_path, definitions=[crd("a.test", "A", {})])
    (path / file).write_text(text)
    with pytest.raises(SandboxError, match=said):
        getattr(chart_at(path), attribute)


@pytest.mark.parametrize(("named", "version"), [("v3.2.1", "v3.2.1"), ("see Chart.yaml", "0.0.0")])
def test_a_folder_of_a_source_tree_may_name_its_release(tmp_path: Path, named: str, version: str) -> None:
    path = write_chart(tmp_path, version="0.0.0")
    (path / "SOURCE.txt").write_text(f"path: charts/widget\nchart_version: {named}\nnotes: see above\n")
    assert chart_at(path).version == version


def test_helm_gets_the_version_of_the_release_as_packaging_writes_it(tmp_path: Path) -> None:
    path = write_chart(tmp_path, version="0.0.0")
    (path / "SOURCE.txt").write_text("chart_version: v3.2.1\n")
    with packaged(chart_at(path)) as folder:
        assert yaml.safe_load((folder / "Chart.yaml").read_text())["version"] == "v3.2.1"
        assert (folder / "values.yaml").is_file() is (path / "values.yaml").is_file()
    assert not folder.exists()
    assert yaml.safe_load((path / "Chart.yaml").read_text())["version"] == "0.0.0"


def test_helm_gets_a_packaged_chart_as_it_is(tmp_path: Path) -> None:
    path = write_chart(tmp_path, version="1.0.0")
    with packaged(chart_at(path)) as folder:
        assert folder == path


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "gauges.yaml"
    write(path, crd("parsed.test", "Gauge", {"level": {"type": "integer", "description": "How high"}}))
    return path


def write(path: Path, *objects: Object) -> None:
    path.write_text(yaml.safe_dump_all([{"kind": "Secret"}, *objects]))


def kinds(file: Path) -> list[str]:
    return [each["spec"]["names"]["kind"] for each in text.crds([file])]


def test_crds_are_parsed_once_and_again_after_a_change(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = text.crds([file])
    assert [each["metadata"]["name"] for each in first] == ["gauges.parsed.test"]
    assert "How high" not in str(first)
    with monkeypatch.context() as patched:
        patched.setattr(text, "documents", lambda *_: pytest.fail("parsed twice"))
        assert text.crds([file]) == first
    write(file, crd("parsed.test", "Gauge", {}), crd("parsed.test", "Dial", {}))
    assert kinds(file) == ["Gauge", "Dial"]


def test_an_invalid_cache_file_is_replaced(file: Path, tmp_path: Path) -> None:
    text.crds([file])
    (kept,) = (tmp_path / "cache" / "definitions").iterdir()
    kept.write_text("[")
    assert kinds(file) == ["Gauge"]
    assert kept.read_text() != "["


def test_without_a_writable_cache_crds_are_parsed_each_time(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken").write_text("")
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path / "taken"))
    assert kinds(file) == ["Gauge"]


def test_documents_without_a_kind_are_ignored() -> None:
    assert list(documents("---\n# nothing\n---\nkind: A\n---\nname: b\n", "here")) == [{"kind": "A"}]


@pytest.mark.parametrize(("text", "value"), [("2026-01-01", "2026-01-01"), ("=", "="), ("0.5", 0.5)])
def test_scalars_are_read_like_kubernetes(text: str, value: object) -> None:
    assert mapping(f"a: {text}", "here") == {"a": value}


@pytest.mark.parametrize("text", ["", "- a", "text"])
def test_a_text_that_is_not_a_map_is_an_empty_map(text: str) -> None:
    assert mapping(text, "here") == {}
