"""The page of the first deployment agrees with the stack, the catalog, the policies and the command."""

import re
from typing import Final

import pytest

from slipway.account.capacity import vcpus_needed
from spec.catalog import quotas
from tests.deploy.policies import FILES, allowed
from tests.docs.pages import ROOT
from tests.support.stacks import platform_of

PAGE: Final = (ROOT / "docs/first-deployment.md").read_text(encoding="utf-8")
COMMANDS: Final = (ROOT / "docs/guides/commands.md").read_text(encoding="utf-8")


def test_quotas_are_those_that_dev_needs() -> None:
    needed, unlisted = vcpus_needed(platform_of("dev"))
    wanted = {quotas.VCPUS[key].code: sum(pools.values()) for key, pools in needed.items()}
    found = re.findall(r"--quota-code (\S+) --desired-value (\d+)", PAGE)
    assert unlisted == []
    assert {code: int(value) for code, value in found} == wanted


def test_the_table_lists_every_policy() -> None:
    assert set(re.findall(r"^\| `(\w+\.json)` \|", PAGE, re.MULTILINE)) == {path.name for path in FILES}


def test_the_account_and_the_state_have_the_names_that_the_policies_allow() -> None:
    (bucket,) = set(re.findall(r"--bucket (\S+)", PAGE))
    assert allowed("s3:PutObject", f"arn:aws:s3:::{bucket}/.pulumi/stacks/slipway/dev.json")
    assert f"pulumi login s3://{bucket}" in PAGE
    assert set(re.findall(r"\b\d{12}\b", PAGE)) == {platform_of("dev").account.id}
    aliases = set(re.findall(r"alias/[a-z*-]+", PAGE))
    assert aliases == {"alias/pulumi-dev", "alias/pulumi-*"}


def test_the_deployer_may_ask_what_doctor_asks() -> None:
    text = COMMANDS.partition("A question that your role may not ask")[2].partition("which `ReadOnlyAccess`")[0]
    named = re.findall(r"`([a-z0-9]+:[A-Za-z*]+)`", text)
    assert len(named) > 10
    assert [action for action in named if not allowed(action.replace("*", "Anything"))] == []


@pytest.mark.parametrize(
    "word", ["slipway doctor --aws", "slipway verify", "slipway recover", "--network-only", "slipway destroy"]
)
def test_the_page_has_every_step(word: str) -> None:
    assert word in PAGE
