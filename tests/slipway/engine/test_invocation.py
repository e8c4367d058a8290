"""How the CLI is called: arguments and environment."""

from dataclasses import replace
from pathlib import Path

import pytest

from slipway.engine.invocation import Operation, Request, operation, sandbox_environment
from slipway.engine.protection import refuse_network_only
from slipway.engine.state import StackResource, StackState
from spec.errors import EXIT_REFUSED, SlipwayError
from spec.naming import NETWORK_ONLY

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
        ({"operation": Operation.DESTROY, "skip_preview": True}, ["destroy", "--stack", "dev", "--skip-preview"]),
        (
            {"operation": Operation.REFRESH, "skip_preview": True, "extra": ("--preview-only",)},
            ["refresh", "--stack", "dev", "--preview-only"],
        ),
        ({"operation": Operation.REFRESH, "yes": True}, ["refresh", "--stack", "dev", "--yes"]),
        (
            {"operation": Operation.REFRESH, "yes": True, "extra": ("--preview-only",)},
            ["refresh", "--stack", "dev", "--preview-only"],
        ),
        (
            {"operation": Operation.DESTROY, "except_protected": True},
            ["destroy", "--stack", "dev", "--exclude-protected"],
        ),
        (
            {"network_only": True},
            [
                "up",
                "--stack",
                "dev",
                "--refresh",
                "--target",
                "urn:pulumi:dev::slipway::slipway:network:Network::network",
                "--target",
                "urn:pulumi:dev::slipway::slipway:network:Network$**",
            ],
        ),
        ({"config_file": Path("/h/c.yaml")}, ["up", "--stack", "dev", "--config-file", "/h/c.yaml", "--refresh"]),
        ({"extra": ("--diff", "--parallel", "4")}, ["up", "--stack", "dev", "--refresh", "--diff", "--parallel", "4"]),
    ],
)
def test_arguments_follow_the_request(settings: dict[str, object], expected: list[str]) -> None:
    assert argv(**settings) == expected


def test_the_program_is_asked_for_the_network_only() -> None:
    for asked in (True, False):
        request = Request(operation=Operation.UP, stack="dev", network_only=asked)
        call = operation(PULUMI, request, directory=Path("/checkout"), environment={"HOME": "/h"})
        assert (NETWORK_ONLY in call.environment) is asked
        assert call.environment["HOME"] == "/h"


def test_the_network_alone_is_refused_once_there_is_a_cluster() -> None:
    request = Request(operation=Operation.UP, stack="dev", network_only=True)
    without = StackState((StackResource("urn:pulumi:dev::slipway::aws:ec2/vpc:Vpc::v", "aws:ec2/vpc:Vpc"),))
    refuse_network_only(request, lambda: without)
    with_cluster = StackState((StackResource("urn:pulumi:dev::slipway::c::c", "aws:eks/cluster:Cluster"),))
    with pytest.raises(SlipwayError, match="run `slipway up dev`"):
        refuse_network_only(request, lambda: with_cluster)
    refuse_network_only(replace(request, network_only=False), lambda: with_cluster)


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
