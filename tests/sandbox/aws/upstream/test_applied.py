"""The account answers all that the Terraform AWS provider asks for the stacks: it makes, plans again, reads, changes,
imports and destroys every AWS resource of them."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandbox.aws.client import credentials
from sandbox.aws.moto.server import MotoServer
from sandbox.toolchain import locate
from sandbox.toolchain.tools import get
from tests.sandbox.aws.upstream.driver import Driver
from tests.sandbox.aws.upstream.plans import KNOWN, TOOL
from tests.sandbox.aws.upstream.plugin import Plugin
from tests.sandbox.conftest import forget
from tests.support.stacks import NAMES, recorded


@pytest.mark.timeout(1200)
def test_the_stacks_live_in_the_account(moto: MotoServer, tmp_path: Path) -> None:
    """At once: dev and staging share an account."""
    found = locate.search(get(TOOL))
    if found is None:
        pytest.skip(f"{TOOL} is not built: `python -m sandbox.toolchain ensure {TOOL}` builds it")
    assert all(map(recorded, NAMES)), "one after the other: the SDK has one run in a process"
    with ThreadPoolExecutor() as pool:
        drivers = list(pool.map(lambda stack: applied(found.path, moto.endpoint, stack, tmp_path / stack), NAMES))
    for stack, driver in zip(NAMES, drivers, strict=True):
        forget(account_of(stack))
        made = [one for one in driver.objects.values() if one.made]
        assert len(made) == len(driver.objects) > 200, (stack, driver.problems)
        assert {step: text for step, text in driver.problems.items() if step not in KNOWN["applied"]} == {}, stack


def account_of(stack: str) -> str:
    """The account of a stack; dev and staging share one."""
    return str(json.loads(recorded(stack).named("aws").inputs.plain["allowedAccountIds"])[0])


def applied(binary: Path, endpoint: str, stack: str, log: Path) -> Driver:
    """A stack that was made and destroyed in its own account."""
    recording = recorded(stack)
    settings = recording.named("aws").inputs.plain
    keys = credentials(endpoint, account_of(stack), settings["region"])
    # The host of S3 Control has the account before the address: only a proxy finds it. Without a record to be played,
    # the provider waits for minutes between two questions (internal/retry/state.go).
    replayed = {"VCR_MODE": "REPLAY_ONLY", "VCR_PATH": str(log)}
    with Plugin(binary, log, {"AWS_ENDPOINT_URL": endpoint, "HTTP_PROXY": endpoint, **replayed}) as plugin:
        plugin.configure(
            {
                "region": settings["region"],
                "access_key": keys["AWS_ACCESS_KEY_ID"],
                "secret_key": keys["AWS_SECRET_ACCESS_KEY"],
                "token": keys["AWS_SESSION_TOKEN"],
                "skip_credentials_validation": True,
                "skip_metadata_api_check": "true",
                "s3_use_path_style": True,
                "max_retries": 1,
                "default_tags": [{"tags": json.loads(settings["defaultTags"])["tags"]}],
            }
        )
        driver = Driver(plugin, recording)
        driver.run()
    return driver
