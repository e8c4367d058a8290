"""`slipway init`: the file that it writes is valid, from options or answers, and it never overwrites one."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox import IN_SANDBOX_SHELL
from sandbox.kubernetes.client import UnreachableError
from sandbox.kubernetes.objects import Ref
from slipway.cli import init, main, quickstart
from slipway.cli.commands import GPU_PRESETS
from slipway.quickstarts import QUICKSTARTS
from spec.settings import Platform, load, read_stack
from spec.settings.presets import PRESETS
from tests.support import mocks
from tests.support.day import TODAY

assert mocks  # it silences warnings that the SDK prints when it is first imported
FULL = {
    "--account": "111122223333",
    "--owner": "ml-platform",
    "--cost-center": "012345",
    "--admin": "arn:aws:iam::111122223333:role/admin",
    "--email": "ml-platform@example.com",
    "--from": "10.0.0.0/12",
    "--ami-release": "1.35.0-20261101",
}
ARGUMENTS = [text for pair in FULL.items() for text in pair]
OFFICE = "203.0.113.0/24"
TEMPLATE = Path(__file__).parents[3] / "templates/platform/stacks/Pulumi.dev.yaml"


@pytest.fixture
def empty(checkout: Path) -> Path:
    """A checkout without stack files."""
    shutil.rmtree(checkout / "stacks")
    (checkout / "stacks").mkdir()
    return checkout


@pytest.mark.parametrize("name", ["dev", "staging", "perf"])
def test_the_policies_of_its_environment_accept_the_file(
    empty: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*ARGUMENTS, *("--approval", "T-1"), *(word for pool in GPU_PRESETS for word in ("--pool", pool))]
    if name == "dev":
        arguments += ["--from", OFFICE]
    assert main(["init", name, *arguments]) == 0
    assert main(["policies", name]) == 0, capsys.readouterr().out
    assert "0 mandatory" in capsys.readouterr().err


def test_every_preset_of_a_pool_with_gpus_can_be_chosen() -> None:
    assert {"system", "cpu", *GPU_PRESETS} == set(PRESETS)


def test_the_policies_of_dev_accept_the_template(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(TEMPLATE, empty / "stacks")
    assert main(["policies", "dev"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "source", "public"),
    [("dev", OFFICE, True), ("dev", "10.0.0.0/12", False), ("staging", "100.65.0.0/16", False)],
)
def test_a_private_network_is_a_peer_and_a_public_one_reaches_a_public_endpoint(
    empty: Path, name: str, source: str, public: bool
) -> None:
    assert main(["init", name, *ARGUMENTS, "--from", source, "--pool", "gpu-spot", "--team", "vision"]) == 0
    platform = load(read_stack(name, empty / "stacks"), stack=name, today=TODAY).platform
    endpoint = platform.cluster.endpoint
    assert endpoint.public_access is public
    assert [str(one) for one in endpoint.public_access_cidrs] == ([source] if public else [])
    assert [str(one) for one in platform.network.peers.values()] == ([] if public else [source])


def test_a_public_network_is_refused_where_the_endpoint_must_be_private(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "perf", *ARGUMENTS, "--from", OFFICE, "--pool", "gpu-spot", "--team", "vision"]) == 2
    assert f"--from {OFFICE} is not a private network" in capsys.readouterr().err
    assert not (checkout / "stacks/Pulumi.perf.yaml").exists()


@pytest.mark.parametrize(
    ("name", "pool", "missing"),
    [("dev", "a100", "--approval"), ("dev", "gpu-spot", ""), ("perf", "a100", "--ami-release")],
)
def test_what_only_some_policies_ask_for_is_required_only_there(
    empty: Path, name: str, pool: str, missing: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(init, "can_ask", lambda: False)
    arguments = [word for option, value in FULL.items() if option != "--ami-release" for word in (option, value)]
    code = main(["init", name, *arguments, "--pool", pool])
    error = capsys.readouterr().err
    assert (code, f"{missing} required" in error) == ((2, True) if missing else (0, False))


@pytest.mark.parametrize("pools", [["gpu-spot"], ["a100"], ["h100", "gpu-spot"]])
def test_the_file_is_valid_and_its_quotas_are_equal_parts(
    checkout: Path, pools: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    choices = [text for pool in pools for text in ("--pool", pool)]
    assert main(["init", "perf", *ARGUMENTS, *choices, "--team", "vision", "--team", "language"]) == 0
    assert "slipway check perf" in capsys.readouterr().out
    platform = load(read_stack("perf", checkout / "stacks"), stack="perf", today=TODAY).platform
    assert set(platform.pools) == {"system", "cpu", *pools}
    assert platform.environment.cost_center == "012345"
    quotas = [{name: share.nominal_quota for name, share in team.shares.items()} for team in platform.teams.values()]
    assert quotas[0] == quotas[1]
    assert set(quotas[0]) == {"cpu", *pools}


def test_an_existing_file_is_kept(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (checkout / "stacks/Pulumi.dev.yaml").read_text(encoding="utf-8")
    assert main(["init", "dev", *ARGUMENTS]) == 2
    assert "exists: `slipway init` writes new stacks only" in capsys.readouterr().err
    assert (checkout / "stacks/Pulumi.dev.yaml").read_text(encoding="utf-8") == before


def test_missing_options_are_named_if_nobody_can_be_asked(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(init, "can_ask", lambda: False)
    assert main(["init", "perf", "--account", "111122223333"]) == 2
    assert "--owner, --cost-center, --email, --admin, --from, --ami-release required" in capsys.readouterr().err
    assert not (checkout / "stacks/Pulumi.perf.yaml").exists()


def test_a_terminal_is_asked_for_what_is_missing_with_suggestions(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ["111122223333", "", "ml-platform", "ml", "a@example.com", "", FULL["--admin"], FULL["--from"]]
    answers = iter([*given, "gpu-spot a100", "", FULL["--ami-release"]])
    asked: list[str] = []
    monkeypatch.setattr(init, "can_ask", lambda: True)

    def answer(question: str) -> str:
        asked.append(question)
        return next(answers)

    monkeypatch.setattr("builtins.input", answer)
    assert main(["init", "perf"]) == 0
    assert any(question.endswith("[us-east-1]: ") for question in asked)
    assert "/aws/service/eks/optimized-ami/" in asked[-1]
    platform = load(read_stack("perf", checkout / "stacks"), stack="perf", today=TODAY).platform
    assert (platform.account.region, set(platform.teams)) == ("us-east-1", {"research"})
    assert {"gpu-spot", "a100"} <= set(platform.pools)


@pytest.mark.parametrize(
    ("name", "changes", "text"),
    [
        ("perf", {"--account": "12"}, "account.id"),
        ("perf", {"--from": "10.0.0.0/33"}, "--from 10.0.0.0/33"),
        ("perf", {"--budget": "much"}, "cost.monthlyBudgetUsd"),
        ("perf", {"--email": "nobody"}, "notifications.emails"),
        ("perf", {"--ami-release": "latest"}, "cluster.amiRelease"),
        ("perf", {"--region": "mars"}, "Use one of af-south-1"),
        ("../perf", {}, "environment.name"),
    ],
)
def test_invalid_answers_write_nothing(
    checkout: Path, name: str, changes: dict[str, str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(checkout.rglob("*.yaml"))
    arguments = [word for pair in {**FULL, **changes}.items() for word in pair]
    assert main(["init", name, *arguments]) == 2
    assert text in capsys.readouterr().err
    assert sorted(checkout.rglob("*.yaml")) == before


# `slipway quickstart`, from the command line to the exit code.


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
