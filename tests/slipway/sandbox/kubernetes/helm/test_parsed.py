from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from slipway.errors import SandboxError
from slipway.sandbox.kubernetes.helm import parsed
from slipway.sandbox.kubernetes.objects import Object
from tests.slipway.sandbox.plane import crd


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "gauges.yaml"
    write(path, crd("parsed.test", "Gauge", {"level": {"type": "integer", "description": "How high"}}))
    return path


def write(path: Path, *objects: Object) -> None:
    path.write_text(yaml.safe_dump_all([{"kind": "Secret"}, *objects]))


def kinds(file: Path) -> list[str]:
    return [each["spec"]["names"]["kind"] for each in parsed.crds([file])]


def test_crds_are_parsed_once_and_again_after_a_change(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = parsed.crds([file])
    assert [each["metadata"]["name"] for each in first] == ["gauges.parsed.test"]
    assert "How high" not in str(first)
    with monkeypatch.context() as patched:
        patched.setattr(parsed, "documents", lambda *_: pytest.fail("parsed twice"))
        assert parsed.crds([file]) == first
    write(file, crd("parsed.test", "Gauge", {}), crd("parsed.test", "Dial", {}))
    assert kinds(file) == ["Gauge", "Dial"]


def test_an_invalid_cache_file_is_replaced(file: Path, tmp_path: Path) -> None:
    parsed.crds([file])
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


def test_invalid_yaml_is_refused_by_path(file: Path) -> None:
    file.write_text("a: [")
    with pytest.raises(SandboxError, match=r"gauges\.yaml is not valid YAML"):
        parsed.crds([file])
