"""What is kept of files that others wrote of a cluster, what never is, and what is refused."""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from policies import manifests
from slipway.cli import main
from slipway.imported.folder import FACTS, README, facts_of
from slipway.imported.keep import ROWS, Names
from slipway.replay import readers
from spec import strict_yaml

ROWS_OF_INPUTS: Final = strict_yaml.beside(__file__, "inputs")


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    monkeypatch.setattr("sys.argv", ["slipway", "import", *map(str, words)])
    code = main()
    captured = capsys.readouterr()
    return code, captured.out + captured.err


@pytest.mark.parametrize("row", ROWS_OF_INPUTS, ids=[row["what"] for row in ROWS_OF_INPUTS])
def test_input(
    row: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / row.get("name", "objects.json"), tmp_path / "out"
    file.write_text(row["text"], encoding="utf-8")
    code, said = run(monkeypatch, capsys, tmp_path if row.get("folder") else file, "--out", out)
    if "refused" in row:
        assert row["refused"] in said
        assert code == 2
        assert sorted(path.name for path in tmp_path.iterdir()) == [file.name]
        return
    assert code == 0, said
    assert facts_of(out)["objects"] == row["objects"]
    for part in row.get("leftOut", ()):
        assert part in said
        assert part in (out / README).read_text(encoding="utf-8")
    never = row.get("never", "\x1b")
    assert never not in said
    assert not [path for path in out.iterdir() if never in path.read_text(encoding="utf-8")]
    read = manifests.read(out)
    assert len(read) == sum(count for kind, count in row["objects"].items() if kind != "trace.csv")
    if "trace.csv" in row["objects"]:
        (job,) = readers.read(out / "trace.csv").jobs
        assert (job.team, job.pods, job.duration, job.gpus) == ("vision", 2, 7200, 8)


def test_an_import_of_a_folder_is_the_same_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, first, second = tmp_path / "a.json", tmp_path / "first", tmp_path / "second"
    file.write_text(json.dumps(CLUSTER), encoding="utf-8")
    run(monkeypatch, capsys, file, "--out", first)
    assert run(monkeypatch, capsys, first, "--out", second)[0] == 0
    names = {path.name for path in first.iterdir()}
    assert names == {path.name for path in second.iterdir()}
    for name in names - {FACTS, README}:
        assert (first / name).read_text(encoding="utf-8") == (second / name).read_text(encoding="utf-8")
    code, said = run(monkeypatch, capsys, file, "--out", first)
    assert (code, "must be a new or empty folder" in said) == (2, True)


POD: Final[dict[str, Any]] = {
    "nodeSelector": {
        "acme.com/rack": "r7",
        "kubernetes.io/hostname": "node-7",
        "node.kubernetes.io/instance-type": "p5.48xlarge",
    },
    "tolerations": [{"key": "acme.com/rack", "operator": "Equal", "value": "r7", "effect": "NoSchedule"}],
    "priorityClassName": "acme-high",
    "containers": [{"name": "main", "image": "acme.com/secret:1", "resources": {"requests": {"cpu": "1"}}}],
}
CLUSTER: Final[list[dict[str, Any]]] = [
    {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "acme", "labels": {"kubernetes.io/metadata.name": "acme"}},
    },
    {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "node-7", "labels": {"kubernetes.io/hostname": "node-7", "acme.com/rack": "r7"}},
        "spec": {"taints": [{"key": "acme.com/rack", "value": "r7", "effect": "NoSchedule"}]},
        "status": {"capacity": {"nvidia.com/gpu": "8"}, "nodeInfo": {"kubeletVersion": "v1.34.2-eks-1"}},
    },
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "acme-high"}, "value": 7},
    {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "system-node-critical"},
        "value": 8,
    },
    {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": "acme-queue", "namespace": "acme"},
        "spec": {"clusterQueue": "acme-all"},
    },
    {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "acme-all"},
        "spec": {"cohortName": "acme"},
    },
    {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "acme-train", "namespace": "acme", "labels": {"kueue.x-k8s.io/queue-name": "acme-queue"}},
        "spec": {"suspend": True, "template": {"spec": POD}},
    },
    {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "acme-rule"},
        "spec": {"validations": [{"expression": "object.metadata.name != 'acme'"}]},
    },
]


def test_hashed_names_still_refer_to_one_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "a.json", tmp_path / "out"
    file.write_text(json.dumps(CLUSTER), encoding="utf-8")
    code, said = run(monkeypatch, capsys, file, "--out", out, "--anonymous")
    assert (code, "1 ValidatingAdmissionPolicy" in said) == (0, True)
    assert not [path for path in out.iterdir() if re.search(r"acme|r7\b|node-7", path.read_text(encoding="utf-8"))]
    found: dict[str, Any] = {}
    for one in manifests.read(out):
        found.setdefault(str(one["kind"]), one)
    node, job, queue = found["Node"], found["Job"], found["LocalQueue"]
    pod = job["spec"]["template"]["spec"]
    (taint,), (toleration,) = node["spec"]["taints"], pod["tolerations"]
    assert (taint["key"], taint["value"]) == (toleration["key"], toleration["value"])
    assert pod["nodeSelector"].items() >= node["metadata"]["labels"].items()
    assert pod["nodeSelector"]["kubernetes.io/hostname"] == node["metadata"]["name"]
    assert pod["nodeSelector"]["node.kubernetes.io/instance-type"] == "p5.48xlarge"
    assert pod["priorityClassName"] == found["PriorityClass"]["metadata"]["name"]
    assert "system-node-critical" in (out / "PriorityClass.scheduling.k8s.io.yaml").read_text(encoding="utf-8")
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == queue["metadata"]["name"]
    assert queue["spec"]["clusterQueue"] == found["ClusterQueue"]["metadata"]["name"]
    namespace = found["Namespace"]["metadata"]
    assert namespace["name"] == namespace["labels"]["kubernetes.io/metadata.name"] == job["metadata"]["namespace"]


def test_two_anonymous_imports_have_no_name_in_common() -> None:
    assert Names(b"a" * 32).name("acme") != Names(b"b" * 32).name("acme")


def test_no_row_keeps_what_an_import_never_has() -> None:
    def fields(shape: Any) -> set[str]:
        return set().union(shape, *map(fields, shape.values())) if isinstance(shape, dict) else set()

    secret = {
        "env",
        "envFrom",
        "args",
        "command",
        "stringData",
        "binaryData",
        "userData",
        "managedFields",
        "entrypoint",
    }
    assert {row.name: fields(row.fields) & secret for row in ROWS.values() if fields(row.fields) & secret} == {}
