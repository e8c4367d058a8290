"""How the CLI is called: arguments and environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from slipway.engine.invocation import Operation, Request, operation, sandbox_environment
from spec.errors import EXIT_REFUSED, SlipwayError

PULUMI = Path("/opt/pulumi")
SANDBOX = {"PULUMI_BACKEND_URL": "file:///home/state", "AWS_ENDPOINT_URL": "http://127.0.0.1:5000", "PATH": "/sandbox"}


def argv(**settings: object) -> list[str]:
    request = Request(**{"operation": Operation.UP, "stack": "dev", **settings})  # type: ignore[arg-type]
    return list(operation(PULUMI, request, directory=Path("/checkout"), environment={}).argv[1:])


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ["up", "--stack", "dev", "--refresh"]),
        ({"yes": True}, ["up", "--stack", "dev", "--yes", "--refresh"]),
        ({"operation": Operation.PREVIEW, "yes": True}, ["preview", "--stack", "dev", "--refresh"]),
        (
            {"operation": Operation.PREVIEW, "extra": ("--refresh=false",)},
            ["preview", "--stack", "dev", "--refresh=false"],
        ),
        ({"skip_preview": True}, ["up", "--stack", "dev", "--refresh", "--skip-preview"]),
        ({"operation": Operation.DESTROY, "skip_preview": True}, ["destroy", "--stack", "dev"]),
        ({"operation": Operation.REFRESH, "yes": True}, ["refresh", "--stack", "dev", "--yes"]),
        (
            {"operation": Operation.REFRESH, "yes": True, "extra": ("--preview-only",)},
            ["refresh", "--stack", "dev", "--preview-only"],
        ),
        (
            {"operation": Operation.DESTROY, "except_protected": True},
            ["destroy", "--stack", "dev", "--exclude-protected"],
        ),
        ({"config_file": Path("/h/c.yaml")}, ["up", "--stack", "dev", "--config-file", "/h/c.yaml", "--refresh"]),
        ({"extra": ("--diff", "--parallel", "4")}, ["up", "--stack", "dev", "--refresh", "--diff", "--parallel", "4"]),
    ],
)
def test_arguments_follow_the_request(settings: dict[str, object], expected: list[str]) -> None:
    assert argv(**settings) == expected


@pytest.mark.parametrize("extra", ["-s", "--stack", "--stack=prod", "-C", "--cwd=/x", "--config-file=/x"])
def test_an_extra_argument_that_selects_another_stack_is_refused(extra: str) -> None:
    with pytest.raises(SlipwayError, match="that was checked") as caught:
        argv(extra=("--diff", extra))
    assert caught.value.exit_code == EXIT_REFUSED


def test_the_users_aws_and_pulumi_variables_are_removed_in_the_sandbox() -> None:
    user = {
        "AWS_PROFILE": "production",
        "AWS_ACCESS_KEY_ID": "AKIAREAL",
        "AWS_ENDPOINT_URL": "https://real",
        "PULUMI_ACCESS_TOKEN": "pul-1",
        "PULUMI_STACK": "prod",
        "HOME": "/home/me",
        "PATH": "/usr/bin",
    }
    assert sandbox_environment(user, SANDBOX) == {**SANDBOX, "HOME": "/home/me"}


def test_variables_for_the_engines_speed_are_kept_in_the_sandbox() -> None:
    user = {"PULUMI_SKIP_CHECKPOINTS": "true", "PULUMI_PARALLEL": "4"}
    assert sandbox_environment(user, {}) == user


def test_loopback_bypasses_a_proxy() -> None:
    environment = sandbox_environment({"https_proxy": "http://proxy:3128", "NO_PROXY": "intern, localhost"}, {})
    assert environment["no_proxy"] == environment["NO_PROXY"] == "intern,localhost,127.0.0.1"
    assert "no_proxy" not in sandbox_environment({"https_proxy": ""}, {})
