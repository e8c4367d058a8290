"""What a user says about EC2, and what EC2 sells."""

from decimal import Decimal
from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.nodes import ec2, machine
from sandbox.nodes.ec2 import Ec2, Refusal
from spec.catalog import instances, prices

ONE_ZONE = Refusal("p5.48xlarge", "us-east-1a")


def test_without_a_file_everything_has_capacity(tmp_path: Path) -> None:
    assert ec2.read(tmp_path) == Ec2()


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    wanted = Ec2((ONE_ZONE, Refusal(capacity_type="spot")), 30.0).refuse(Refusal(zone="us-east-1b"))
    ec2.write(tmp_path, wanted)
    assert ec2.read(tmp_path) == wanted


def test_a_refusal_is_restored_by_one_that_covers_it() -> None:
    settings = Ec2().refuse(ONE_ZONE).refuse(ONE_ZONE).refuse(Refusal("g6.xlarge"))
    assert settings.restore(Refusal("p5.48xlarge")).refused == (Refusal("g6.xlarge"),)
    assert settings.restore(Refusal("p5.48xlarge", "us-east-1b")) == settings
    assert settings.restore(Refusal()).refused == ()


def test_a_file_that_is_not_ours_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / ec2.FILE).write_text('{"refused": [{"type": "p5.48xlarge"}]}')
    with pytest.raises(SandboxError, match=r"ec2.json can't be read"):
        ec2.read(tmp_path)


def test_a_refusal_says_what_it_covers() -> None:
    assert ONE_ZONE.text == "p5.48xlarge in us-east-1a"
    assert Refusal(capacity_type="spot").text == "every type, spot"


def test_types_have_the_prices_and_the_allocatable_resources_of_the_catalog() -> None:
    sold = {one["name"]: one for one in machine.types("us-east-1")}
    kind = instances.get("g6.2xlarge")
    found = sold[kind.name]
    assert kind.usd_per_hour is not None
    assert found["prices"]["on-demand"] == float(kind.usd_per_hour)
    discount = prices.SPOT.types[kind.name]
    assert found["prices"]["spot"] == float(kind.usd_per_hour * (Decimal(1) - discount))
    reserved = found["kubeReservedMiB"] + found["kubeReservedMiBPerPod"] * kind.max_pods + found["evictionMiB"]
    assert found["memoryMiB"] - reserved == kind.allocatable_memory_mib
    assert found["cpu"] * 1000 - found["kubeReservedMillis"] == kind.allocatable_cpu_millis
    assert found["labels"]["karpenter.k8s.aws/instance-gpu-name"] == "l4"


def test_a_type_that_the_region_does_not_sell_is_left_out() -> None:
    sold = {one["name"] for one in machine.types("us-east-1")}
    unpriced = {kind.name for kind in instances.ALL.values() if kind.usd_per_hour is None}
    assert unpriced
    assert not sold & unpriced
    assert sold <= {kind.name for kind in instances.ALL.values() if kind.offered_in("us-east-1") is not False}
