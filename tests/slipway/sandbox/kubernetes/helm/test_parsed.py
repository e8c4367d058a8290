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
    return [each["spec"]["names"]["kind"] for each in parsed.definitions([file])]


def test_definitions_are_parsed_once_and_again_when_their_file_changed(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = parsed.definitions([file])
    assert [each["metadata"]["name"] for each in first] == ["gauges.parsed.test"]
    assert "How high" not in str(first)
    with monkeypatch.context() as patched:
        patched.setattr(parsed, "documents", lambda *_: pytest.fail("parsed twice"))
        assert parsed.definitions([file]) == first
    write(file, crd("parsed.test", "Gauge", {}), crd("parsed.test", "Dial", {}))
    assert kinds(file) == ["Gauge", "Dial"]


def test_what_was_kept_badly_is_parsed_again(file: Path, tmp_path: Path) -> None:
    parsed.definitions([file])
    (kept,) = (tmp_path / "cache" / "definitions").iterdir()
    kept.write_text("[")
    assert kinds(file) == ["Gauge"]
    assert kept.read_text() != "["


def test_without_a_place_to_keep_them_they_are_parsed_all_the_same(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken").write_text("")
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path / "taken"))
    assert kinds(file) == ["Gauge"]


def test_what_is_no_yaml_is_refused_with_its_place(file: Path) -> None:
    file.write_text("a: [")
    with pytest.raises(SandboxError, match=r"gauges\.yaml is no YAML"):
        parsed.definitions([file])
