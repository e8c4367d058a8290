"""The test support itself: recordings, and what it refuses."""

from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pulumi
import pulumi_aws as aws
import pytest
import yaml

from policies.suppressions import FILE
from spec import clock
from tests.support import ageing
from tests.support.day import TODAY
from tests.support.mocks import UNKNOWN, Recording, providers, run
from tests.support.outputs import cluster_outputs, network_outputs


class _Parts(pulumi.ComponentResource):
    PULUMI_TYPE = "slipway:test:Parts"

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        self.vpc = aws.ec2.Vpc(
            f"{name}-vpc", cidr_block="10.0.0.0/16", opts=pulumi.ResourceOptions(parent=self, protect=True)
        )
        self.subnet = aws.ec2.Subnet(f"{name}-subnet", vpc_id=self.vpc.id, cidr_block="10.0.0.0/20", opts=child)
        self.register_outputs({"vpcId": self.vpc.id})


def _parts(preview: bool = False) -> Recording:
    def build() -> pulumi.Output[str]:
        parts = _Parts("it", pulumi.ResourceOptions(providers=providers()))
        pulumi.export("stack", pulumi.get_stack())
        return parts.vpc.id

    return run(build, preview=preview)


def test_an_update_gives_ids_and_a_preview_gives_none() -> None:
    assert _parts().returned.startswith("vpc-")
    assert _parts().one(aws.ec2.Subnet).inputs["vpcId"].startswith("vpc-")
    assert _parts(preview=True).returned == UNKNOWN
    assert _parts(preview=True).one(aws.ec2.Subnet).inputs["vpcId"] == UNKNOWN


def test_options_parents_providers_and_component_outputs_are_recorded() -> None:
    recording = _parts()
    vpc, subnet = recording.one(aws.ec2.Vpc), recording.one(aws.ec2.Subnet)
    component = recording.one(_Parts)
    assert recording.protected == {"it-vpc"}
    assert vpc.parent == subnet.parent == component.urn
    assert vpc.urn == "urn:pulumi:test::slipway::slipway:test:Parts$aws:ec2/vpc:Vpc::it-vpc"
    assert vpc.provider == recording.one(aws.Provider).urn
    assert component.outputs == {"vpcId": recording.returned}
    assert recording.exports == {"stack": "test"}
    assert recording.default_provider_users == ()


def test_dependencies_through_inputs_are_recorded() -> None:
    recording = _parts()
    vpc, subnet = recording.one(aws.ec2.Vpc), recording.one(aws.ec2.Subnet)
    assert recording.waits(subnet, vpc)
    assert not recording.waits(vpc, subnet)


def test_a_resource_on_the_default_provider_is_reported() -> None:
    recording = run(lambda: aws.ec2.Vpc("stray", cidr_block="10.0.0.0/16").id)
    assert recording.default_provider_users == (recording.one(aws.ec2.Vpc).urn,)


def test_an_invoke_fails() -> None:
    with pytest.raises(Exception, match="getCallerIdentity"):
        run(lambda: aws.get_caller_identity_output().account_id)


def test_a_name_used_twice_fails() -> None:
    def build() -> None:
        aws.ec2.Vpc("twin", cidr_block="10.0.0.0/16")
        aws.ec2.Vpc("twin", cidr_block="10.1.0.0/16")

    with pytest.raises(Exception, match="same type, parent and name"):
        run(build)


def test_sample_outputs_have_values_like_those_of_aws() -> None:
    def build() -> dict[str, pulumi.Output[str]]:
        cluster = cluster_outputs(providers()[0])
        network = network_outputs("abc", pods=True)
        return {
            "issuer": cluster.oidc_issuer,
            "ca": cluster.certificate_authority,
            "group": cluster.security_group_id,
            "subnet": network.pod_subnets["c"],
        }

    recording = run(build).returned
    assert recording["issuer"].startswith("https://oidc.eks.us-east-1.amazonaws.com/id/")
    assert recording["group"].startswith("sg-")
    assert recording["ca"]
    assert recording["subnet"] == "subnet-pods-c"


# The summary of a test run names what has become old on the current day.


LATE = date(2100, 1, 1)


@dataclass
class Terminal:
    """What pytest writes to."""

    sections: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)

    def section(self, title: str) -> None:
        self.sections.append(title)

    def write_line(self, line: str) -> None:
        self.written.append(line)


@pytest.fixture
def summary(request: pytest.FixtureRequest) -> Any:
    """The hook of tests/conftest.py, as pytest calls it."""
    plugin = request.config.pluginmanager.get_plugin(str(Path(__file__).parents[1] / "conftest.py"))
    return plugin.pytest_terminal_summary  # type: ignore[union-attr]


def test_facts_suppressions_and_stacks_that_have_ended_are_named() -> None:
    text = "\n".join(ageing.lines(LATE))
    assert "spec/catalog/data/prices.yaml: " in text
    assert "`slipway prices refresh`" in text
    assert text.count("the suppression of ") == len(yaml.safe_load(FILE.read_text(encoding="utf-8")))
    assert "stack prod: cluster.version: EKS must support the version" in text


def test_on_the_day_of_the_tests_no_stack_and_no_suppression_has_ended() -> None:
    assert [line for line in ageing.lines(TODAY) if not line.startswith("spec/catalog/")] == []


def test_the_summary_is_that_of_the_current_day_and_not_of_the_tests(
    summary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "current", lambda: LATE)
    terminal = Terminal()
    summary(terminal)
    assert terminal.sections == ["the catalog is ageing"]
    assert terminal.written == ageing.lines(LATE)


def test_where_nothing_is_old_nothing_is_said(summary: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ageing, "lines", lambda _: [])
    terminal = Terminal()
    summary(terminal)
    assert terminal == Terminal()
