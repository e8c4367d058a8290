"""The APIs of Kubernetes are read from the markers of their types."""

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from sandbox.toolchain.tools import KUBERNETES_VERSION
from spec import strict_yaml
from spec.catalog.document import load
from tools import refresh_lifecycle

MARKERS = """func (in *Thing) APILifecycleIntroduced() (major, minor int) {\n\treturn 1, 26\n}
func (in *Thing) APILifecycleReplacement() schema.GroupVersionKind {
\treturn schema.GroupVersionKind{Group: "things.k8s.io", Version: "v1", Kind: "Thing"}\n}
func (in *Thing) APILifecycleRemoved() (major, minor int) {\n\treturn 1, 32\n}
func (in *Old) APILifecycleIntroduced() (major, minor int) {\n\treturn 1, 9\n}
"""


def test_versions_and_replacements_come_from_the_markers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "things" / "v1beta1").mkdir(parents=True)
    (tmp_path / "things" / "v1beta1" / "register.go").write_text('const GroupName = "things.k8s.io"\n')
    (tmp_path / "things" / "v1beta1" / refresh_lifecycle.FILE).write_text(MARKERS)
    (tmp_path / "info").write_text('{"Time": "2026-07-23T00:00:00Z"}')
    answer = SimpleNamespace(stdout=json.dumps({"Dir": str(tmp_path), "Info": str(tmp_path / "info")}))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: answer)
    monkeypatch.setattr(refresh_lifecycle, "FOLDER", str(tmp_path))
    refresh_lifecycle.main("v0.99.0")
    made = strict_yaml.read((tmp_path / "lifecycle.yaml").read_text())
    thing = {"introduced": "1.26", "use": "things.k8s.io/v1", "removed": "1.32"}
    assert (made["groups"], made["apis"]) == (
        {"things.k8s.io": ["v1beta1"]},
        {"things.k8s.io/v1beta1": {"Thing": thing}},
    )


def test_the_file_is_of_the_kubernetes_that_the_sandbox_runs() -> None:
    """After another version of it: `python tools/refresh_lifecycle.py VERSION`."""
    assert load("lifecycle.yaml")["source"].endswith(f" v0{KUBERNETES_VERSION.removeprefix('1')}")
