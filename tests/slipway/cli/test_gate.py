"""The gate around `slipway preview` and `slipway up`, against a CLI that writes the event log that it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from slipway.cli import main, offline, operations
from slipway.cli.gate import without_up
from spec.errors import EXIT_REFUSED, EXIT_STATEFUL
from tests.slipway.engine.fake import FakePulumi, exported, resource
from tests.slipway.engine.test_plan import event, urn

pytestmark = pytest.mark.usefixtures("user", "checkout")

BUCKET = "aws:s3/bucket:Bucket"
STANDS = exported(resource(BUCKET, "it"))
REPLACED = event("replace", keys=["bucket"], old={"inputs": {"bucket": "a"}}, new={"inputs": {"bucket": "b"}})


def commands(fake: FakePulumi) -> list[str]:
    return [call["arguments"][0] for call in fake.calls]


def test_a_preview_that_would_replace_a_bucket_fails_and_says_how_to_allow_it(
    fake: FakePulumi, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.tell("events", REPLACED)
    assert main(["preview", "dev"]) == EXIT_STATEFUL
    said = capsys.readouterr().err
    assert "bucket can't be changed in place" in said
    assert f"--allow-replace '{urn(BUCKET)}'" in said
    assert fake.calls[0]["environment"]["PULUMI_DEBUG_COMMANDS"] == "true"


def test_a_preview_with_the_urn_allowed_passes(fake: FakePulumi) -> None:
    fake.tell("events", REPLACED)
    assert main(["preview", "dev", "--allow-replace", urn(BUCKET)]) == 0


def test_an_allowance_that_fits_nothing_is_told(fake: FakePulumi, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preview", "dev", "--allow-replace", urn(BUCKET, "other")]) == 0
    assert f"{urn(BUCKET, 'other')} fits nothing" in capsys.readouterr().err


def test_an_allowance_that_is_no_urn_is_refused_before_the_engine_starts(fake: FakePulumi) -> None:
    assert main(["preview", "dev", "--allow-replace", "bucket"]) == EXIT_REFUSED
    assert fake.calls == []


def test_a_preview_that_fails_by_itself_keeps_its_code(fake: FakePulumi) -> None:
    fake.tell("events", REPLACED)
    fake.tell("exit", "255")
    assert main(["preview", "dev"]) == 255


def test_an_update_is_previewed_judged_and_not_begun(fake: FakePulumi) -> None:
    fake.tell("export", STANDS)
    fake.tell("events", REPLACED)
    assert main(["up", "dev", "--yes", "--", "--diff", "--continue-on-error"]) == EXIT_STATEFUL
    assert commands(fake) == ["stack", "preview"]
    assert "--diff" in fake.calls[1]["arguments"]
    assert "--continue-on-error" not in fake.calls[1]["arguments"]


def test_an_update_that_loses_nothing_follows_its_preview_without_a_second_one(fake: FakePulumi) -> None:
    fake.tell("export", STANDS)
    assert main(["up", "dev", "--yes", "--", "--diff"]) == 0
    assert commands(fake) == ["stack", "preview", "up"]
    assert fake.calls[2]["arguments"] == ["up", "--stack", "dev", "--yes", "--refresh", "--skip-preview", "--diff"]


def test_a_first_update_has_nothing_to_lose_and_is_the_engines_own(fake: FakePulumi) -> None:
    assert main(["up", "dev", "--yes"]) == 0
    assert commands(fake) == ["stack", "up"]
    assert "--skip-preview" not in fake.calls[1]["arguments"]


def test_a_state_that_can_not_be_read_is_taken_for_one_that_holds_something(fake: FakePulumi) -> None:
    fake.tell("stack-fails", "no such stack")
    fake.tell("events", REPLACED)
    assert main(["up", "dev", "--yes"]) == EXIT_STATEFUL


@pytest.mark.parametrize(("answer", "code", "ran"), [(True, 0, True), (False, EXIT_REFUSED, False)])
def test_without_yes_the_question_comes_after_the_preview(
    fake: FakePulumi, monkeypatch: pytest.MonkeyPatch, answer: bool, code: int, ran: bool
) -> None:
    fake.tell("export", STANDS)
    monkeypatch.setattr(operations, "can_ask", lambda: True)
    monkeypatch.setattr(operations, "ask", lambda question: answer)
    assert main(["up", "dev"]) == code
    assert commands(fake) == ["stack", "preview", *(["up"] if ran else [])]


def test_a_rehearsal_goes_on_and_tells_what_aws_would_have_refused(
    fake: FakePulumi, sandbox: offline.Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.tell("events", REPLACED)
    assert main(["up", "dev", "--sandbox"]) == 0
    assert "on AWS this would have been refused" in capsys.readouterr().err
    assert "preview" not in commands(fake)


def test_a_rehearsal_with_a_preview_is_judged_as_on_aws(fake: FakePulumi, sandbox: offline.Sandbox) -> None:
    fake.tell("export", STANDS)
    fake.tell("events", REPLACED)
    assert main(["up", "dev", "--sandbox", "--preview"]) == EXIT_STATEFUL


def test_a_refresh_and_a_destroy_are_not_judged(fake: FakePulumi) -> None:
    fake.tell("events", REPLACED)
    assert main(["refresh", "dev", "--yes"]) == 0
    assert main(["destroy", "dev", "--yes"]) == 0
    assert not any("--event-log" in call["arguments"] for call in fake.calls)


def test_arguments_of_up_alone_are_kept_from_the_preview() -> None:
    given = ["--diff", "-f", "--secrets-provider", "awskms://x", "--target=urn", "--secrets-provider=y", "-y"]
    assert without_up(given) == ("--diff", "--target=urn")


def test_the_log_is_gone_afterwards(fake: FakePulumi) -> None:
    assert main(["preview", "dev"]) == 0
    given = fake.calls[0]["arguments"]
    assert not Path(given[given.index("--event-log") + 1]).parent.exists()
