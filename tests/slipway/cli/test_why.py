"""`slipway why`: what it reads, where it looks, and its exit code."""

import io
import json
from pathlib import Path
from typing import Final

import pytest
import yaml

from sandbox import IN_SANDBOX_SHELL
from slipway.cli import main
from slipway.why.collect import Survey
from tests.slipway.conftest import Slipway
from tests.slipway.why.objects import unscheduled
from tests.slipway.why.test_file import job

RIGHT: Final = job()
WRONG: Final = job(pod__tolerations=None)


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither a kubeconfig nor a sandbox."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setenv("SLIPWAY_SANDBOX_HOME", str(tmp_path / "sandbox"))
    monkeypatch.delenv(IN_SANDBOX_SHELL, raising=False)


def file(tmp_path: Path, *manifests: object) -> str:
    path = tmp_path / "work.yaml"
    path.write_text(yaml.safe_dump_all(manifests), encoding="utf-8")
    return str(path)


def test_a_file_is_checked_against_the_settings_without_a_cluster(tmp_path: Path, slipway: Slipway) -> None:
    text = slipway("why", file(tmp_path, RIGHT), "--stack", "dev", "--sandbox").out
    assert text.startswith("job/train would be accepted: 1 pod on a100.")
    assert "not read: the sandbox has no cluster slipway-dev" in text


def test_of_several_objects_each_has_its_answer(tmp_path: Path, slipway: Slipway) -> None:
    assert [
        one["layer"]
        for one in json.loads(
            slipway("why", file(tmp_path, RIGHT, WRONG), "--stack", "dev", "--sandbox", "--json", code=1).out
        )
    ] == ["accepted", "admission"]


def test_another_namespace_has_another_team(tmp_path: Path, slipway: Slipway) -> None:
    here = job({"nvidia.com/gpu": "1"}, pod__nodeSelector={"platform.slipway/pool": "h100"})
    assert (
        "must have a share of pool h100"
        in slipway("why", file(tmp_path, here), "--stack", "dev", "--sandbox", code=1).out
    )
    assert main(["why", file(tmp_path, here), "--stack", "dev", "--sandbox", "-n", "language"]) == 0


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["job/train"], "there is no kubeconfig"),
        (["job/train", "--sandbox"], "no sandbox runs here"),
        (["job/train", "--stack", "dev", "--sandbox"], "the sandbox has no cluster slipway-dev"),
    ],
)
def test_what_is_missing_is_an_error(arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", *arguments]) != 0
    assert error in capsys.readouterr().err


def test_without_a_name_all_that_wait_are_listed(monkeypatch: pytest.MonkeyPatch, slipway: Slipway) -> None:
    asked: list[str] = []

    def survey(_client: object, namespace: str) -> Survey:
        asked.append(namespace)
        pod = unscheduled("0/1 nodes are available: 1 Insufficient cpu.")
        held = [pod] if namespace == "vision" else []
        return Survey(held, (), ["Node of the cluster: your permissions don't include it"])

    monkeypatch.setattr("slipway.cli.cluster.of_sandbox", lambda _: object())
    monkeypatch.setattr("slipway.cli.why.survey", survey)
    text = slipway("why --stack dev --sandbox", code=1).out
    assert {"vision", "language", "recommender"} <= set(asked)
    assert [line.split()[:3] for line in text.splitlines()[:2]] == [
        ["NAMESPACE", "NAME", "HELD"], ["vision", "pod/train-1", "scheduler"]
    ]  # fmt: skip
    assert text.count("not read: Node of the cluster") == 1
    asked.clear()
    (row,) = slipway("why --stack dev --sandbox -n vision --json", code=1).document
    assert (row["namespace"], row["layer"]) == ("vision", "scheduler")
    assert asked
    assert all(one.startswith("vision") for one in asked)
    assert "nothing waits or is held in language" in slipway("why --stack dev --sandbox -n language").out


def test_a_file_without_manifests_is_refused(tmp_path: Path, slipway: Slipway) -> None:
    assert (
        "no Kubernetes manifests" in slipway("why", file(tmp_path, {"a": 1}), "--stack", "dev", "--sandbox", code=2).err
    )


def test_a_namespace_of_no_team_is_refused_without_a_cluster(tmp_path: Path, slipway: Slipway) -> None:
    assert (
        "it must be a namespace of a team"
        in slipway("why", file(tmp_path, RIGHT), "--stack", "dev", "--sandbox", "-n", "nowhere", code=2).err
    )


def test_a_file_is_fixed_and_the_changes_are_shown(tmp_path: Path, slipway: Slipway) -> None:
    bare = job(spec__activeDeadlineSeconds=None, spec__ttlSecondsAfterFinished=None)
    path = file(tmp_path, bare, {"apiVersion": "v1", "kind": "List", "items": [bare]})
    slipway("why", path, "--stack", "dev", "--sandbox", code=1)
    (link := tmp_path / "link.yaml").symlink_to(path)
    assert f"is a link to {path}" in slipway("why", link, "--stack", "dev", "--sandbox", "--fix", code=2).err
    text = slipway("why", path, "--stack", "dev", "--sandbox", "--fix").out
    assert text.count("changed: spec.activeDeadlineSeconds: 86400 (job-bounds)") == 2
    first, second = yaml.safe_load_all(Path(path).read_text(encoding="utf-8"))
    assert first["spec"]["activeDeadlineSeconds"] == second["items"][0]["spec"]["activeDeadlineSeconds"] == 86400
    before = Path(path).read_bytes()
    assert "changed" not in slipway("why", path, "--stack", "dev", "--sandbox", "--fix").out
    assert Path(path).read_bytes() == before


def test_what_only_the_author_knows_is_left_with_the_reason(tmp_path: Path, slipway: Slipway) -> None:
    held = {"name": "main", "image": "a:latest"}
    assert (
        "left to its author: rule image-tag: only its author knows which version"
        in slipway(
            "why", file(tmp_path, job(pod__containers=[held])), "--stack", "dev", "--sandbox", "--fix", code=1
        ).out
    )


def test_standard_input_becomes_the_fixed_file(monkeypatch: pytest.MonkeyPatch, slipway: Slipway) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(yaml.safe_dump(job(spec__activeDeadlineSeconds=None))))
    output = slipway("why - --stack dev --sandbox --fix")
    assert yaml.safe_load(output.out)["spec"]["activeDeadlineSeconds"] == 86400
    assert "changed: spec.activeDeadlineSeconds" in output.err
