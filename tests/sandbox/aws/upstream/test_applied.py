"""The account answers all that the Terraform AWS provider asks for the stacks: it makes, plans again, reads, changes,
imports and destroys every AWS resource of them."""

import json
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


@pytest.mark.parametrize("stack", NAMES)
def test_a_stack_lives_in_the_account(stack: str, moto: MotoServer, tmp_path: Path) -> None:
    found = locate.search(get(TOOL))
    if found is None:
        pytest.skip(f"{TOOL} is not built: `python -m sandbox.toolchain ensure {TOOL}` builds it")
    recording = recorded(stack)
    settings = recording.named("aws").inputs.plain
    account, region = json.loads(settings["allowedAccountIds"])[0], settings["region"]
    keys = credentials(moto.endpoint, account, region)
    # The host of S3 Control has the account before the address: only a proxy finds it.
    environment = {"AWS_ENDPOINT_URL": moto.endpoint, "HTTP_PROXY": moto.endpoint}
    with Plugin(found.path, tmp_path / "log", environment) as plugin:
        plugin.configure(
            {
                "region": region,
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
    forget(account)
    made = [one for one in driver.objects.values() if one.made]
    assert len(made) == len(driver.objects) > 200
    assert {name: text for name, text in driver.problems.items() if name not in KNOWN["applied"]} == {}
