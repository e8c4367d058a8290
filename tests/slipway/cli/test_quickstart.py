"""`slipway quickstart`, from the command line to the exit code."""

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from sandbox import IN_SANDBOX_SHELL
from sandbox.kubernetes.client import UnreachableError
from sandbox.kubernetes.objects import Ref
from slipway.cli import main, quickstart
from slipway.quickstarts import QUICKSTARTS
from spec.settings import Platform

VLLM = ("quickstart", "vllm", "--stack", "dev", "--team", "vision", "--ttl", "keep")


class Cluster:
    """Answers for the claim `models`."""

    def __init__(self, annotations: Mapping[str, str] | None) -> None:
        self.annotations = annotations

    def get(self, ref: Ref) -> dict[str, Any] | None:
        assert ref == Ref("v1", "PersistentVolumeClaim", "models", "vision")
        return None if self.annotations is None else {"metadata": {"annotations": self.annotations}}


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Which cluster is asked: true for that of the sandbox."""
    monkeypatch.delenv(IN_SANDBOX_SHELL, raising=False)
    asked: list[bool] = []

    def connect(platform: Platform, *, simulated: bool) -> Cluster:
        asked.append(simulated)
        return Cluster({"platform.slipway/s3-uri": "s3://models-1a2b3c4/vision/"})

    monkeypatch.setattr(quickstart, "connect", connect)
    return asked


def test_without_a_name_the_quickstarts_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quickstart"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(QUICKSTARTS)


def test_it_prints_yaml_with_the_teams_queue(capsys: pytest.CaptureFixture[str], simulated: list[bool]) -> None:
    options = ["--team", "language", "--stack", "dev", "--name", "mine", "--pool", "h100"]
    assert main(["quickstart", "training-job", *options]) == 0
    out = capsys.readouterr().out
    assert out.startswith("# slipway quickstart training-job --stack dev --team language: on pool h100.\n")
    code, job = yaml.safe_load_all(out)
    assert (code["metadata"]["name"], job["metadata"]["name"]) == ("mine-code", "mine")
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "default"
    assert job["metadata"]["namespace"] == "language"
    assert simulated == []


def test_what_starts_and_costs_is_in_the_file_and_beside_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, simulated: list[bool]
) -> None:
    server = ("quickstart", "vllm", "--stack", "dev", "--team", "vision", "--ttl", "90m")
    assert main(server) == 0
    out, error = capsys.readouterr()
    said = [line.removeprefix("  ") for line in error.splitlines()[1:]]
    assert [line.removeprefix("# ") for line in out.splitlines()[1 : len(said) + 1]] == said
    assert "USD a month if left on" in said[1]
    assert said[-1].startswith("It ends by itself after 1.5 h at most, ")
    assert simulated == []
    # On a terminal the comments are seen already.
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(server) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("text", ["4", "h", "0h", "1d", "-1h", "4h keep", ""])
def test_a_time_that_is_none_is_refused(capsys: pytest.CaptureFixture[str], text: str) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["quickstart", "vllm", "--stack", "dev", "--team", "vision", f"--ttl={text}"])
    assert refused.value.code == 2
    assert f"a time such as 4h or 90m, or `keep` (given: {text!r})" in capsys.readouterr().err


def test_a_time_beyond_the_bounds_of_a_job_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quickstart", "vllm", "--stack", "dev", "--team", "vision", "--ttl", "1000h"]) == 2
    assert "deadline_seconds: a job must be bounded" in capsys.readouterr().err


@pytest.mark.parametrize(("more", "sandbox"), [((), False), (("--sandbox",), True)])
def test_the_address_of_models_is_read_from_the_cluster(
    capsys: pytest.CaptureFixture[str], simulated: list[bool], more: tuple[str, ...], sandbox: bool
) -> None:
    assert main([*VLLM, *more]) == 0
    assert "storageUri: s3://models-1a2b3c4/vision/qwen2.5-0.5b-instruct\n" in capsys.readouterr().out
    assert simulated == [sandbox]


def test_in_a_shell_of_the_sandbox_its_cluster_is_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], simulated: list[bool]
) -> None:
    monkeypatch.setenv(IN_SANDBOX_SHELL, "1")
    assert main([*VLLM]) == 0
    assert simulated == [True]


@pytest.mark.parametrize("address", ["s3://mine/vision", "s3://mine/vision/"])
def test_a_given_address_needs_no_cluster(
    capsys: pytest.CaptureFixture[str], simulated: list[bool], address: str
) -> None:
    assert main([*VLLM, "--models", address]) == 0
    assert "storageUri: s3://mine/vision/qwen2.5-0.5b-instruct\n" in capsys.readouterr().out
    assert simulated == []


@pytest.mark.parametrize("annotations", [None, {}])
def test_a_claim_without_an_address_is_reported_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], annotations: Mapping[str, str] | None
) -> None:
    monkeypatch.setattr(quickstart, "connect", lambda platform, simulated: Cluster(annotations))
    assert main([*VLLM]) == 1
    error = capsys.readouterr().err
    assert "claim vision/models of slipway-dev has no address: run `slipway up` once" in error
    assert "--models s3://BUCKET/vision/" in error


def test_a_cluster_that_does_not_answer_is_reported_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def connect(platform: Platform, *, simulated: bool) -> Cluster:
        msg = "nobody is there"
        raise UnreachableError(msg)

    monkeypatch.setattr(quickstart, "connect", connect)
    assert main([*VLLM]) == 1
    error = capsys.readouterr().err
    assert "nobody is there" in error
    assert "--models s3://BUCKET/vision/" in error


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("nosuch", "--stack", "dev", "--team", "vision"), "NAME: it must be a quickstart (given: 'nosuch')"),
        (("sweep", "--team", "vision"), "Add --stack STACK."),
        (("sweep", "--stack", "dev"), "Add --team TEAM."),
        (("sweep", "--stack", "dev", "--team", "visio"), "It has: language, recommender, vision."),
        (("sweep", "--stack", "dev", "--team", "vision", "--namespace", "language"), "namespace of team vision"),
        (("sweep", "--stack", "dev", "--team", "nosuch", "--namespace", "x"), "It has: language, recommender, vision."),
        (("sweep", "--stack", "dev", "--team", "vision", "--pool", "h100"), "There are: gpu-spot, a100."),
        (("sweep", "--stack", "dev", "--team", "vision", "--name", "Mine!"), "a name has at most 45 lowercase"),
    ],
)
def test_a_wrong_argument_is_refused_with_what_there_is(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], text: str
) -> None:
    assert main(["quickstart", *arguments]) == 2
    out, error = capsys.readouterr()
    assert text in error
    assert out == ""
