"""The document of what a release consists of: every pin of the lock files and of the catalog is in it."""

import json
import re
from pathlib import Path
from typing import Final

import pytest

from sandbox.toolchain import install
from spec.catalog.software import CHARTS, MANIFESTS
from tests.support.cases import beside
from tools import sbom

CASES: Final = beside(__file__)
URL = re.compile(r"pkg:(pypi|golang|generic|oci)/[^@?\s]+(@[^@?\s]+)?(\?[a-z_]+=[^&\s]+(&[a-z_]+=[^&\s]+)*)?")
DIGEST = "0" * 64


def urls() -> set[str]:
    return {one["purl"] for one in sbom.document()["components"]}


def test_every_component_has_an_address_of_its_own_that_scanners_read() -> None:
    found = sbom.document()
    every = [one["bom-ref"] for one in found["components"]]
    assert sorted(set(every)) == every == found["dependencies"][0]["dependsOn"]
    assert [one for one in every if not URL.fullmatch(one)] == []


def test_packages_are_those_of_the_lock_file() -> None:
    lock = sbom.LOCK.read_text(encoding="utf-8")
    count = sum(line[:1].isalnum() for line in lock.splitlines())
    found = [one for one in urls() if one.startswith("pkg:pypi/")]
    assert len(found) == count > 100
    assert {"pkg:pypi/annotated-types", "pkg:pypi/pulumi-aws"} <= {one.partition("@")[0] for one in found}


def test_charts_and_manifests_of_the_catalog_are_in_it() -> None:
    found = urls()
    assert all(
        any(one.startswith(f"pkg:generic/{row.name}@{row.version}?") for one in found) for row in CHARTS.values()
    )
    assert all(any(one.endswith(f"&tag={row.image.rpartition(':')[2]}") for one in found) for row in MANIFESTS.values())


def test_go_modules_are_those_that_are_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = CASES["go.mod"]
    (tmp_path / "go.mod").write_text(text, encoding="utf-8")
    monkeypatch.setattr(sbom, "MODULES", tmp_path)
    assert sorted(one["purl"] for one in sbom.modules()) == [
        "pkg:golang/example.com/one@v1.0.0",
        "pkg:golang/example.com/other@v2.0.0",
        "pkg:golang/example.com/two@v1.0.0",
    ]


def test_the_tools_that_run_beside_a_cluster_are_in_it() -> None:
    found = {one.partition("@")[0] for one in urls()}
    assert {"pkg:golang/sigs.k8s.io/karpenter", "pkg:golang/sigs.k8s.io/kueue", "pkg:golang/helm.sh/helm/v3"} <= found


def test_a_committed_digest_is_a_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "committed", lambda: {"https://example.com/a.tgz": DIGEST})
    (found,) = sbom.files()
    assert found["hashes"] == [{"alg": "SHA-256", "content": DIGEST}]


def test_the_same_checkout_gives_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.json", "b.json"):
        monkeypatch.setattr("sys.argv", ["sbom", str(tmp_path / "of" / name)])
        assert sbom.main() == 0
    first = (tmp_path / "of" / "a.json").read_bytes()
    assert first == (tmp_path / "of" / "b.json").read_bytes()
    assert json.loads(first)["bomFormat"] == "CycloneDX"
