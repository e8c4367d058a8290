"""The gate around `slipway preview` and `slipway up`, with a fake CLI that writes a prepared event log."""

from pathlib import Path

import pytest

from slipway.cli import display, main, offline, operations
from slipway.cli.gate import without_up
from spec.errors import EXIT_REFUSED, EXIT_STATEFUL
from tests.slipway.engine.fake import FakePulumi, exported, resource
from tests.slipway.engine.test_gate import event, urn

pytestmark = pytest.mark.usefixtures("user", "checkout")

BUCKET = "aws:s3/bucket:Bucket"
EXISTING = exported(resource(BUCKET, "it"))
REPLACED = event("replace", keys=["bucket"], old={"inputs": {"bucket": "a"}}, new={"inputs": {"bucket": "b"}})


def commands(fake: FakePulumi) -> list[str]:
    return [call["arguments"][0] for call in fake.calls]


def test_a_preview_that_would_replace_a_bucket_fails_and_shows_how_to_allow_it(
    fake: FakePulumi, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.tell("events", REPLACED)
    assert main(["preview", "dev"]) == EXIT_STATEFUL
    message = capsys.readouterr().err
    assert "bucket can't be changed in place" in message
    assert f"--allow-replace '{urn(BUCKET)}'" in message
    assert fake.calls[0]["environment"]["PULUMI_DEBUG_COMMANDS"] == "true"


def test_a_preview_with_the_urn_allowed_passes(fake: FakePulumi) -> None:
    fake.tell("events", REPLACED)
    assert main(["preview", "dev", "--allow-replace", urn(BUCKET)]) == 0


def test_an_unused_allow_replace_is_reported(fake: FakePulumi, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preview", "dev", "--allow-replace", urn(BUCKET, "other")]) == 0
    assert f"unused --allow-replace {urn(BUCKET, 'other')}" in capsys.readouterr().err


def test_a_failed_preview_keeps_the_engines_exit_code(fake: FakePulumi) -> None:
    fake.tell("events", REPLACED)
    fake.tell("exit", "255")
    assert main(["preview", "dev"]) == 255


def test_an_update_is_refused_after_its_preview(fake: FakePulumi) -> None:
    fake.tell("export", EXISTING)
    fake.tell("events", REPLACED)
    assert main(["up", "dev", "--yes", "--", "--diff", "--continue-on-error"]) == EXIT_STATEFUL
    # The history gives the settings that the cost is compared with.
    assert commands(fake) == ["stack", "preview", "stack"]
    assert fake.calls[2]["arguments"][:2] == ["stack", "history"]
    assert "--diff" in fake.calls[1]["arguments"]
    assert "--continue-on-error" not in fake.calls[1]["arguments"]


def test_an_update_without_losses_runs_after_one_preview(fake: FakePulumi) -> None:
    fake.tell("export", EXISTING)
    assert main(["up", "dev", "--yes", "--", "--diff"]) == 0
    assert commands(fake) == ["stack", "preview", "up"]
    assert fake.calls[2]["arguments"] == ["up", "--stack", "dev", "--yes", "--refresh", "--skip-preview", "--diff"]


def test_a_first_update_without_a_terminal_is_previewed_for_its_summary(fake: FakePulumi) -> None:
    assert main(["up", "dev", "--yes"]) == 0
    assert commands(fake) == ["stack", "preview", "up"]


def test_a_first_update_on_a_terminal_is_left_to_the_engine(fake: FakePulumi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "quiet", lambda *_, **__: False)
    assert main(["up", "dev", "--yes"]) == 0
    assert commands(fake) == ["stack", "up"]
    assert "--skip-preview" not in fake.calls[1]["arguments"]


def test_an_unreadable_state_is_treated_as_stateful(fake: FakePulumi) -> None:
    fake.tell("stack-fails", "no such stack")
    fake.tell("events", REPLACED)
    assert main(["up", "dev", "--yes"]) == EXIT_STATEFUL


@pytest.mark.parametrize(("answer", "code", "ran"), [(True, 0, True), (False, EXIT_REFUSED, False)])
def test_without_yes_confirmation_is_asked_after_the_preview(
    fake: FakePulumi, monkeypatch: pytest.MonkeyPatch, answer: bool, code: int, ran: bool
) -> None:
    fake.tell("export", EXISTING)
    monkeypatch.setattr(operations, "can_ask", lambda: True)
    monkeypatch.setattr(operations, "ask", lambda question: answer)
    assert main(["up", "dev"]) == code
    assert commands(fake) == ["stack", "preview", *(["up"] if ran else [])]


def test_an_update_in_the_sandbox_runs_and_reports_what_aws_would_have_refused(
    fake: FakePulumi, sandbox: offline.Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.tell("events", REPLACED)
    assert main(["up", "dev", "--sandbox"]) == 0
    assert "on AWS this would have been refused" in capsys.readouterr().err
    assert "preview" not in commands(fake)


def test_an_update_in_the_sandbox_with_a_preview_is_gated_as_on_aws(fake: FakePulumi, sandbox: offline.Sandbox) -> None:
    fake.tell("export", EXISTING)
    fake.tell("events", REPLACED)
    assert main(["up", "dev", "--sandbox", "--preview"]) == EXIT_STATEFUL


@pytest.mark.parametrize("operation", ["up", "refresh"])
def test_a_run_that_fails_ends_with_what_exists_and_the_command_that_goes_on(
    operation: str, fake: FakePulumi, sandbox: offline.Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.tell("export", exported(resource(BUCKET, "it"), resource(BUCKET, "other")))
    fake.tell("exit", "255")
    assert main([operation, "dev", "--sandbox", "--yes"]) == 255
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"{operation} failed: 2 resources of stack dev exist. Fix what is named above, then "
        f"`slipway {operation} dev --sandbox` goes on from there"
    )


def test_a_failed_update_on_aws_says_so_too_and_a_failed_preview_has_changed_nothing(
    fake: FakePulumi, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.tell("exit", "255")
    assert main(["preview", "dev"]) == 255
    assert "failed:" not in capsys.readouterr().err
    monkeypatch.setattr(display, "quiet", lambda *_, **__: False)
    fake.tell("stack-fails", "no such stack")
    fake.tell("exit", "1")
    monkeypatch.setattr("slipway.cli.gate.Gate._may_lose", lambda _: False)
    assert main(["up", "dev", "--yes"]) == 1
    error = capsys.readouterr().err
    assert "up failed: what exists could not be read (" in error
    assert error.rstrip().endswith("then `slipway up dev` goes on from there")


def test_an_unchanged_stack_has_its_cost_without_a_comparison(
    fake: FakePulumi, sandbox: offline.Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.tell("events", event("same"))
    assert main(["up", "dev", "--sandbox"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("Cost a month: floor $") == 1
    assert not any(call["arguments"][:2] == ["stack", "history"] for call in fake.calls)


def test_refresh_and_destroy_are_not_gated(fake: FakePulumi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "tear_down", lambda request, platform, run, ask, **_: run(request))
    fake.tell("events", REPLACED)
    assert main(["refresh", "dev", "--yes"]) == 0
    assert main(["destroy", "dev", "--yes"]) == 0


def test_arguments_of_up_only_are_not_passed_to_the_preview() -> None:
    arguments = ["--diff", "-f", "--secrets-provider", "awskms://x", "--target=urn", "--secrets-provider=y", "-y"]
    assert without_up(arguments) == ("--diff", "--target=urn")


def test_the_event_log_is_deleted_afterwards(fake: FakePulumi) -> None:
    assert main(["preview", "dev"]) == 0
    arguments = fake.calls[0]["arguments"]
    assert not Path(arguments[arguments.index("--event-log") + 1]).parent.exists()
