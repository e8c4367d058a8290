"""`slipway init`: the file that it writes is valid, from options or answers, and it never overwrites one."""

from pathlib import Path

import pytest

from slipway.cli import init, main
from spec.settings import load, read_stack
from tests.support.day import TODAY

FULL = {
    "--account": "111122223333",
    "--owner": "ml-platform",
    "--cost-center": "012345",
    "--admin": "arn:aws:iam::111122223333:role/admin",
    "--from": "203.0.113.0/24",
}
ARGUMENTS = [text for pair in FULL.items() for text in pair]


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
    assert "--owner, --cost-center, --admin, --from required" in capsys.readouterr().err
    assert not (checkout / "stacks/Pulumi.perf.yaml").exists()


def test_a_terminal_is_asked_for_what_is_missing_with_suggestions(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["111122223333", "", "ml-platform", "ml", FULL["--admin"], FULL["--from"], "gpu-spot a100", ""])
    asked: list[str] = []
    monkeypatch.setattr(init, "can_ask", lambda: True)

    def answer(question: str) -> str:
        asked.append(question)
        return next(answers)

    monkeypatch.setattr("builtins.input", answer)
    assert main(["init", "perf"]) == 0
    assert any(question.endswith("[us-east-1]: ") for question in asked)
    platform = load(read_stack("perf", checkout / "stacks"), stack="perf", today=TODAY).platform
    assert (platform.account.region, set(platform.teams)) == ("us-east-1", {"research"})
    assert {"gpu-spot", "a100"} <= set(platform.pools)


@pytest.mark.parametrize(
    ("name", "changes", "text"),
    [
        ("perf", {"--account": "12"}, "account.id"),
        ("perf", {"--from": "0.0.0.0/33"}, "cluster.endpoint.publicAccessCidrs"),
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
