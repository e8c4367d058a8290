"""`slipway destroy STACK` on AWS: which runs empty the cluster first, and what a user is asked."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import NoCredentialsError

from slipway.cli import main, offline, operations
from slipway.engine.invocation import Operation, Request
from spec.errors import EXIT_REFUSED, SlipwayError
from tests.slipway.engine.fake import FakePulumi
from tests.spec.settings.stack import loaded

pytestmark = pytest.mark.usefixtures("user", "checkout")

PLATFORM = loaded({}).platform
REQUEST = Request(operation=Operation.DESTROY, stack="test")


@pytest.fixture
def torn_down(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Request, bool]]:
    calls: list[tuple[Request, bool]] = []

    def destroy(request: Request, _platform: Any, run: Any, _ask: Any, *, delete_volumes: bool) -> int:
        calls.append((request, delete_volumes))
        return int(run(request))

    monkeypatch.setattr(operations, "tear_down", destroy)
    return calls


def test_a_destroy_of_the_whole_stack_on_aws_empties_the_cluster(
    fake: FakePulumi, torn_down: list[tuple[Request, bool]]
) -> None:
    assert main(["destroy", "dev", "--yes", "--delete-volumes"]) == 0
    ((request, volumes),) = torn_down
    assert (request.stack, request.unreachable, volumes) == ("dev", False, True)
    assert fake.calls[-1]["arguments"][:5] == ["destroy", "--stack", "dev", "--yes", "--skip-preview"]


def test_objects_of_a_lost_cluster_are_forgotten_by_the_providers_option(
    fake: FakePulumi, torn_down: list[tuple[Request, bool]]
) -> None:
    assert main(["destroy", "dev", "--yes", "--unreachable"]) == 0
    assert torn_down[0][0].unreachable
    assert fake.calls[-1]["environment"]["PULUMI_K8S_DELETE_UNREACHABLE"] == "true"


@pytest.mark.parametrize(
    "line",
    [
        "destroy dev --yes --except-protected",
        "destroy dev --yes -- --target urn:x",
        "destroy dev --yes -- --preview-only",
        "destroy dev --yes --sandbox",
        "up dev --yes",
    ],
)
def test_a_part_of_a_stack_and_a_rehearsal_leave_the_cluster_alone(
    line: str, fake: FakePulumi, sandbox: offline.Sandbox, torn_down: list[tuple[Request, bool]]
) -> None:
    assert main(line.split()) == 0
    assert torn_down == []


def test_a_user_is_asked_before_anything_is_removed() -> None:
    asked: list[str] = []

    def no(question: str) -> bool:
        asked.append(question)
        return False

    assert operations.tear_down(REQUEST, PLATFORM, lambda _: 0, no, delete_volumes=False) == EXIT_REFUSED
    assert "cluster slipway-test" in asked[0]


def test_an_aws_that_does_not_answer_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def session(_: str) -> Any:
        def client(_: str) -> Any:
            raise NoCredentialsError

        return client

    monkeypatch.setattr(operations, "session", session)
    with pytest.raises(SlipwayError, match="Unable to locate credentials"):
        operations.tear_down(REQUEST, PLATFORM, lambda _: 0, lambda _: True, delete_volumes=False)
