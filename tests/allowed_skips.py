"""The one list of what may be skipped where nothing else may: in CI, with SLIPWAY_REQUIRE_ALL=1 (tests/required.py)."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Final


def anywhere() -> bool:
    """The reason holds on every machine."""
    return True


def where_nothing_can_be_installed() -> bool:
    """`.ci/run` installs packages of Debian where it is root; elsewhere the machine has them or has them not."""
    return os.geteuid() != 0 or shutil.which("apt-get") is None


@dataclass(frozen=True)
class Allowed:
    """A skip that is no failure.

    Attributes:
        tests: Pattern of the test's file, from the top of the tree.
        reason: What the reason of the skip begins with.
        why: Why it may be skipped.
        where: The machines on which it may.
    """

    tests: str
    reason: str
    why: str
    where: Callable[[], bool] = anywhere


WITHOUT_SAMPLES: Final = "SLIPWAY_SHARED names no "
"""What the reason of a test begins with that compares with the folder of samples; tests/required.py counts them."""

ALLOWED: Final = (
    Allowed(
        "tests/*",
        WITHOUT_SAMPLES,
        "It compares with charts, CRDs and tables of other projects, which are not part of this repository; `.ci/run` "
        "names their folder where there is one.",
    ),
    Allowed(
        "tests/e2e/test_workloads.py",
        "SLIPWAY_REPEATS is not set",
        "The table takes minutes beyond the limit of CI; it runs when kinds, queues or pins of controllers change.",
    ),
    Allowed(
        "tests/sandbox/test_identity.py",
        "only root starts a process of another user",
        "The connection of another user needs that user; the rest of the file reads tables as the kernel writes them.",
    ),
    Allowed(
        "tests/slipway/engine/test_guard.py",
        "a file system of its own needs ",
        "A right that the user of GitHub's runners and most containers do not have (mount(2): EPERM). The rest of the "
        "file fills no disk.",
    ),
    Allowed(
        "tests/components/addons/test_device_plugin.py",
        "NVIDIA's device plugin needs ",
        "A right that the user of GitHub's runners and most containers do not have (mount(2): EPERM). Its recorded "
        "answers are compared in every run.",
    ),
    Allowed(
        "tests/e2e/test_environments.py",
        "a network namespace needs ",
        "A right that the user of GitHub's runners and most containers do not have (unshare(2): EPERM).",
    ),
    Allowed(
        "tests/e2e/test_official.py",
        "no official Kubernetes provider",
        "15 minutes of Go on one processor; whoever changes our provider builds it once.",
    ),
    Allowed(
        "tests/sandbox/kubernetes/test_official.py",
        "not built: ",
        "The provider that judges ours takes 15 minutes of Go on one processor.",
    ),
    Allowed(
        "tests/sandbox/controllers/test_kuberay.py",
        "not built: ",
        "Controllers are built in the background where a sandbox needs them, and take minutes of Go.",
    ),
    Allowed(
        "tests/slipway/report/test_browser.py",
        "no Chromium on PATH",
        "A package of Debian. GitHub's image ubuntu-24.04 has Chromium and Chrome (actions/runner-images, its Readme).",
        where_nothing_can_be_installed,
    ),
    Allowed(
        "tests/e2e/test_manifests.py",
        "no kubectl on PATH",
        "A package of Debian. GitHub's image ubuntu-24.04 has it (actions/runner-images, its Readme).",
        where_nothing_can_be_installed,
    ),
    Allowed(
        "tests/slipway/cli/test_commands.py",
        "no zsh on this machine",
        "A package of Debian and Ubuntu; test.yml installs it.",
        where_nothing_can_be_installed,
    ),
    Allowed(
        "tests/slipway/cli/test_commands.py",
        "no fish on this machine",
        "Nothing else needs it; its script has every command and option, which another test compares.",
        anywhere,
    ),
)


def allowed(file: str, reason: str) -> Allowed | None:
    """What allows a test of a file to be skipped for a reason, if anything does."""
    fitting = (one for one in ALLOWED if fnmatch(file, one.tests) and reason.startswith(one.reason))
    return next((one for one in fitting if one.where()), None)
