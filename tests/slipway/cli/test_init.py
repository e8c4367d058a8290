"""`slipway init`: the file that it writes is valid, from options or answers, and it never overwrites one."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from sandbox import IN_SANDBOX_SHELL
from sandbox.kubernetes.client import UnreachableError
from sandbox.kubernetes.objects import Ref
from slipway.cli import init, quickstart
from slipway.quickstarts import QUICKSTARTS
from spec.settings import Platform, load, read_stack
from spec.settings.presets import PRESETS
from tests.slipway.conftest import Slipway, choices
from tests.support.cases import beside
from tests.support.day import TODAY

CASES: Final = beside(__file__)

FULL: Final[dict[str, str]] = CASES["all answers"]
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
def test_the_policies_of_its_environment_accept_the_file(empty: Path, name: str, slipway: Slipway) -> None:
    arguments = [
        *ARGUMENTS,
        *("--approval", "T-1"),
        *(word for pool in choices("init", "--pool") for word in ("--pool", pool)),
    ]
    if name == "dev":
        arguments += ["--from", OFFICE]
    slipway("init", name, *arguments)
    assert "0 mandatory" in slipway("policies", name).err


def test_every_preset_of_a_pool_with_gpus_can_be_chosen() -> None:
    assert {"system", "cpu", *choices("init", "--pool")} == set(PRESETS)


def test_the_help_names_what_is_written_where_nobody_says_otherwise(slipway: Slipway) -> None:
    text = slipway("init --help", code=0).out
    for option in ("region", "budget", "cidr"):
        assert f"default: {init.SUGGESTED[option]}" in text


def test_the_policies_of_dev_accept_the_template(empty: Path, slipway: Slipway) -> None:
    shutil.copy(TEMPLATE, empty / "stacks")
    slipway("policies dev")


@pytest.mark.parametrize(
    ("name", "source", "public"),
    [("dev", OFFICE, True), ("dev", "10.0.0.0/12", False), ("staging", "100.65.0.0/16", False)],
)
def test_a_private_network_is_a_peer_and_a_public_one_reaches_a_public_endpoint(
    empty: Path, name: str, source: str, public: bool, slipway: Slipway
) -> None:
    slipway("init --pool gpu-spot --team vision", name, *ARGUMENTS, "--from", source)
    platform = load(read_stack(name, empty / "stacks"), stack=name, today=TODAY).platform
    endpoint = platform.cluster.endpoint
    assert endpoint.public_access is public
    assert [str(one) for one in endpoint.public_access_cidrs] == ([source] if public else [])
    assert [str(one) for one in platform.network.peers.values()] == ([] if public else [source])


def test_a_public_network_is_refused_where_the_endpoint_must_be_private(checkout: Path, slipway: Slipway) -> None:
    refused = slipway("init perf --pool gpu-spot --team vision", *ARGUMENTS, "--from", OFFICE, code=2)
    assert f"--from {OFFICE} is not a private network" in refused.err
    assert not (checkout / "stacks/Pulumi.perf.yaml").exists()


@pytest.mark.parametrize(
    ("name", "pool", "missing"),
    [("dev", "a100", "--approval"), ("dev", "gpu-spot", ""), ("perf", "a100", "--ami-release")],
)
def test_what_only_some_policies_ask_for_is_required_only_there(
    empty: Path, name: str, pool: str, missing: str, slipway: Slipway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(init, "can_ask", lambda: False)
    arguments = [word for option, value in FULL.items() if option != "--ami-release" for word in (option, value)]
    error = slipway("init", name, *arguments, "--pool", pool, code=2 if missing else 0).err
    assert (f"{missing} required" in error) is bool(missing)


@pytest.mark.parametrize("pools", [["gpu-spot"], ["a100"], ["h100", "gpu-spot"]])
def test_the_file_is_valid_and_its_quotas_are_equal_parts(checkout: Path, pools: list[str], slipway: Slipway) -> None:
    choices = [text for pool in pools for text in ("--pool", pool)]
    made = slipway("init perf --team vision --team language", *ARGUMENTS, *choices)
    assert "slipway check perf" in made.out
    platform = load(read_stack("perf", checkout / "stacks"), stack="perf", today=TODAY).platform
    assert set(platform.pools) == {"system", "cpu", *pools}
    assert platform.environment.cost_center == "012345"
    quotas = [{name: share.nominal_quota for name, share in team.shares.items()} for team in platform.teams.values()]
    assert quotas[0] == quotas[1]
    assert set(quotas[0]) == {"cpu", *pools}
    assert {team.budget_usd for team in platform.teams.values()} == {(platform.cost.monthly_budget_usd or 0) // 2}
    assert platform.cost.idle_gpus is not None


def test_an_existing_file_is_kept(checkout: Path, slipway: Slipway) -> None:
    before = (checkout / "stacks/Pulumi.dev.yaml").read_text(encoding="utf-8")
    assert "exists: `slipway init` writes new stacks only" in slipway("init dev", *ARGUMENTS, code=2).err
    assert (checkout / "stacks/Pulumi.dev.yaml").read_text(encoding="utf-8") == before


def test_missing_options_are_named_if_nobody_can_be_asked(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, slipway: Slipway
) -> None:
    monkeypatch.setattr(init, "can_ask", lambda: False)
    error = slipway("init perf --account 111122223333", code=2).err
    assert "--owner, --cost-center, --email, --admin, --from, --ami-release required" in error
    assert "`aws ssm get-parameter --name /aws/service/eks/optimized-ami/" in error
    assert not (checkout / "stacks/Pulumi.perf.yaml").exists()


def test_a_terminal_is_asked_for_what_is_missing_with_suggestions(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, slipway: Slipway
) -> None:
    given = ["111122223333", "", "ml-platform", "ml", "a@example.com", "", FULL["--admin"], FULL["--from"]]
    answers = iter([*given, "gpu-spot a100", "", FULL["--ami-release"]])
    asked: list[str] = []
    monkeypatch.setattr(init, "can_ask", lambda: True)

    def answer(question: str) -> str:
        asked.append(question)
        return next(answers)

    monkeypatch.setattr("builtins.input", answer)
    slipway("init perf")
    assert any(question.endswith("[us-east-1]: ") for question in asked)
    assert "/aws/service/eks/optimized-ami/" in asked[-1]
    platform = load(read_stack("perf", checkout / "stacks"), stack="perf", today=TODAY).platform
    assert (platform.account.region, set(platform.teams)) == ("us-east-1", {"research"})
    assert {"gpu-spot", "a100"} <= set(platform.pools)


@pytest.mark.parametrize(("name", "changes", "text"), CASES["invalid answers write nothing"])
def test_invalid_answers_write_nothing(
    checkout: Path, name: str, changes: dict[str, str], text: str, slipway: Slipway
) -> None:
    before = sorted(checkout.rglob("*.yaml"))
    arguments = [word for pair in {**FULL, **changes}.items() for word in pair]
    assert text in slipway("init", name, *arguments, code=2).err
    assert sorted(checkout.rglob("*.yaml")) == before


# `slipway quickstart`, from the command line to the exit code.


VLLM = "quickstart vllm --stack dev --team vision --ttl keep"


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


def test_without_a_name_the_quickstarts_are_listed(slipway: Slipway) -> None:
    assert [line.split()[0] for line in slipway("quickstart").out.splitlines()] == list(QUICKSTARTS)


def test_it_prints_yaml_with_the_teams_queue(slipway: Slipway, simulated: list[bool]) -> None:
    options = ["--team", "language", "--stack", "dev", "--name", "mine", "--pool", "h100"]
    out = slipway("quickstart training-job", *options).out
    assert out.startswith("# slipway quickstart training-job --stack dev --team language: on pool h100.\n")
    code, job = yaml.safe_load_all(out)
    assert (code["metadata"]["name"], job["metadata"]["name"]) == ("mine-code", "mine")
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "default"
    assert job["metadata"]["namespace"] == "language"
    assert simulated == []


def test_what_starts_and_costs_is_in_the_file_and_beside_it(
    slipway: Slipway, monkeypatch: pytest.MonkeyPatch, simulated: list[bool]
) -> None:
    server = "quickstart vllm --stack dev --team vision --ttl 90m"
    out, error = slipway(server)
    said = [line.removeprefix("  ") for line in error.splitlines()[1:]]
    assert [line.removeprefix("# ") for line in out.splitlines()[1 : len(said) + 1]] == said
    assert "USD a month if left on" in said[1]
    assert said[-1].startswith("It ends by itself after 1.5 h at most, ")
    assert simulated == []
    # On a terminal the comments are seen already.
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert slipway(server).err == ""


@pytest.mark.parametrize(("more", "sandbox"), [("", False), (" --sandbox", True)])
def test_the_address_of_models_is_read_from_the_cluster(
    slipway: Slipway, simulated: list[bool], more: str, sandbox: bool
) -> None:
    shown = slipway(f"{VLLM}{more}").out
    assert "storageUri: s3://models-1a2b3c4/vision/qwen2.5-0.5b-instruct\n" in shown
    assert simulated == [sandbox]


def test_in_a_shell_of_the_sandbox_its_cluster_is_asked(
    monkeypatch: pytest.MonkeyPatch, slipway: Slipway, simulated: list[bool]
) -> None:
    monkeypatch.setenv(IN_SANDBOX_SHELL, "1")
    slipway(VLLM)
    assert simulated == [True]


@pytest.mark.parametrize("address", ["s3://mine/vision", "s3://mine/vision/"])
def test_a_given_address_needs_no_cluster(slipway: Slipway, simulated: list[bool], address: str) -> None:
    assert "storageUri: s3://mine/vision/qwen2.5-0.5b-instruct\n" in slipway(VLLM, "--models", address).out
    assert simulated == []


def unanswered(platform: Platform, *, simulated: bool) -> Cluster:
    msg = "nobody is there"
    raise UnreachableError(msg)


@pytest.mark.parametrize(
    ("connect", "cause"),
    [
        (lambda *_, **__: Cluster(None), "claim vision/models of slipway-dev has no address: run `slipway up` once"),
        (lambda *_, **__: Cluster({}), "claim vision/models of slipway-dev has no address: run `slipway up` once"),
        (unanswered, "nobody is there"),
    ],
)
def test_an_address_that_can_not_be_read_is_reported_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch, slipway: Slipway, connect: Callable[..., Cluster], cause: str
) -> None:
    monkeypatch.setattr(quickstart, "connect", connect)
    error = slipway(VLLM, code=1).err
    assert cause in error
    assert "--models s3://BUCKET/vision/" in error
