import io
import json
import sys
from pathlib import Path
from typing import Final

import pytest
import yaml

from sandbox.kubernetes.helm import manifest
from sandbox.kubernetes.helm.manifest import flat, prepare
from tests.support.cases import beside

CASES: Final = beside(__file__)
PLAIN = CASES["a ConfigMap"]
API = CASES["an APIService"]
CRD = CASES["a CRD"]
LIST = CASES["a List"]


def together(*documents: str) -> str:
    return "".join(f"---\n{document}" for document in documents)


def test_documents_without_anything_to_change_keep_their_text() -> None:
    prepared = prepare(together(PLAIN, PLAIN), "x")
    assert prepared.documents == [PLAIN, PLAIN]
    assert prepared.text == together(PLAIN, PLAIN)


def test_apis_are_left_out_crds_lose_descriptions_and_lists_become_objects() -> None:
    prepared = prepare(together(PLAIN, API, CRD, LIST), "x")
    assert prepared.left_out == ["API of service x/x", "API of service None/y"]
    objects = list(prepared.objects("x"))
    assert [obj["kind"] for obj in objects] == ["ConfigMap", "CustomResourceDefinition", "Secret"]
    assert objects[1]["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == {"type": "object"}
    assert [document["kind"] for document in yaml.safe_load_all(prepared.text)] == [obj["kind"] for obj in objects]


def test_a_document_that_is_written_as_json_is_looked_at() -> None:
    assert prepare(json.dumps(yaml.safe_load(API)), "x").left_out == ["API of service x/x"]


def test_lists_in_lists_are_flattened() -> None:
    inner = yaml.safe_load(LIST)
    assert len(list(flat({"kind": "List", "items": [inner, inner]}))) == 4


def test_the_post_renderer_reads_and_writes_its_streams(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(together(PLAIN, API)))
    assert manifest.main(tmp_path / "report", {}) == 0
    assert capsys.readouterr().out == together(PLAIN)
    assert json.loads((tmp_path / "report").read_text()) == ["API of service x/x"]
    monkeypatch.setattr(sys, "stdin", io.StringIO("kind: APIService\n\t: : broken"))
    assert manifest.main(tmp_path / "report", {}) == 1
    assert "not valid YAML" in capsys.readouterr().err
