from typing import Any

import pytest

from sandbox.kubernetes.helm import values

NAMED: dict[str, Any] = {"name": "one", "namespace": "team"}


def test_helm_waits_until_the_sandbox_interrupts_it() -> None:
    expected = ["install", "one", "/chart", "--namespace", "team", "--timeout", "24h", "--wait", "--skip-crds"]
    assert values.install_arguments(NAMED, "/chart") == expected
    assert values.uninstall_arguments(NAMED) == ["uninstall", "one", "--namespace", "team", "--wait", "--timeout",
        "24h"]  # fmt: skip
    assert values.limit(NAMED) == 300.0


def test_the_platforms_releases_are_atomic_and_clean_up() -> None:
    inputs = {**NAMED, "atomic": True, "cleanupOnFail": True, "timeout": 600}
    assert values.install_arguments(inputs, "/chart")[-1] == "--atomic"
    assert values.limit(inputs) == 600.0
    assert "--cleanup-on-fail" not in values.install_arguments(inputs, "/chart")
    assert values.upgrade_arguments(inputs, "/chart")[-4:] == ["--history-max", "0", "--atomic", "--cleanup-on-fail"]


@pytest.mark.parametrize(
    ("inputs", "install", "upgrade"),
    [
        ({"waitForJobs": True}, ["--wait", "--wait-for-jobs"], ["--wait", "--wait-for-jobs"]),
        ({"disableWebhooks": True}, ["--no-hooks"], []),
        ({"disableCRDHooks": True}, [], ["--no-hooks"]),
        ({"replace": True}, ["--replace"], []),
        ({"takeOwnership": True}, ["--take-ownership"], ["--take-ownership"]),
        ({"disableOpenapiValidation": True}, ["--disable-openapi-validation"], ["--disable-openapi-validation"]),
        ({"maxHistory": 3}, [], ["--history-max", "3"]),
        ({"forceUpdate": True}, [], ["--force"]),
        ({"resetValues": True, "reuseValues": True}, [], ["--reset-values", "--reuse-values"]),
        ({"recreatePods": True}, [], ["--recreate-pods"]),
        ({"description": "a note"}, ["--description", "a note"], ["--description", "a note"]),
    ],
)
def test_inputs_become_arguments(inputs: dict[str, Any], install: list[str], upgrade: list[str]) -> None:
    plain = (values.install_arguments(NAMED, "/c"), values.upgrade_arguments(NAMED, "/c"))
    found = (values.install_arguments({**NAMED, **inputs}, "/c"), values.upgrade_arguments({**NAMED, **inputs}, "/c"))
    for which, (before, after, expected) in enumerate(zip(plain, found, (install, upgrade), strict=True)):
        added = [each for each in after if each not in before]
        assert added == [each for each in expected if each not in before], which
        assert all(each in after for each in expected), which


def test_without_awaiting_nothing_waits_unless_the_release_is_atomic() -> None:
    inputs = {**NAMED, "skipAwait": True, "waitForJobs": True}
    assert not {"--wait", "--wait-for-jobs"} & set(values.install_arguments(inputs, "/c"))
    assert values.uninstall_arguments(inputs) == ["uninstall", "one", "--namespace", "team"]
    assert "--wait" in values.uninstall_arguments({**inputs, "atomic": True})
