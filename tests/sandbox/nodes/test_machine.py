"""What EC2 sells, what a user says about it, and what a node of a type has."""

from decimal import Decimal
from pathlib import Path
from typing import Final

import pytest

from components.addons.trainer import whole_node
from sandbox.errors import SandboxError
from sandbox.nodes import ec2, machine
from sandbox.nodes.ec2 import Ec2, Refusal
from sandbox.nodes.machine import Machine, karpenter_labels
from spec.catalog import instances, prices
from spec.pools.resolution import resolve_all
from spec.quantities import to_mebibytes
from tests.support.cases import beside
from tests.support.stacks import platform_of

CASES: Final = beside(__file__)


def test_allocatable_is_capacity_minus_reservations() -> None:
    machine, kind = Machine("m7i.xlarge", max_pods=110), instances.get("m7i.xlarge")
    assert machine.capacity({}) == {
        "cpu": "4",
        "memory": "16384Mi",
        "pods": "110",
        "ephemeral-storage": str(20 * 2**30),
    }
    left = machine.allocatable({})
    assert left["cpu"] == f"{kind.allocatable_cpu_millis}m"
    assert left["memory"] == f"{kind.allocatable_memory_at(110)}Mi"


@pytest.mark.parametrize(("labels", "extra", "expected"), CASES["gpus of a node"])
def test_gpus_are_whole_or_partitioned_and_multiplied_by_sharing(
    labels: dict[str, str], extra: dict[str, str], expected: dict[str, str]
) -> None:
    capacity = Machine("p4d.24xlarge", extra=extra).capacity(labels)
    assert {name: value for name, value in capacity.items() if name.startswith("nvidia.com/")} == expected


def test_a_pod_with_everything_of_an_efa_node_fits_on_it() -> None:
    pool = resolve_all(platform_of("prod"))["h100"]
    room = Machine("p5.48xlarge", max_pods=pool.settings.max_pods, efa=32).allocatable({})
    wanted = whole_node(pool)
    assert room["hugepages-2Mi"] == "5120Mi"
    for name in ("memory", "hugepages-2Mi"):
        assert to_mebibytes(wanted[name]) <= to_mebibytes(room[name])
    assert "hugepages-2Mi" not in Machine("p5.48xlarge").capacity({})


def test_efa_adapters_are_counted() -> None:
    assert Machine("p5.48xlarge", efa=32).allocatable({})["vpc.amazonaws.com/efa"] == "32"
    assert "vpc.amazonaws.com/efa" not in Machine("p5.48xlarge").capacity({})


@pytest.mark.parametrize(
    ("name", "raid", "expected"),
    [("p4d.24xlarge", True, 8000 * 10**9), ("p4d.24xlarge", False, 200 * 2**30), ("m7i.large", True, 200 * 2**30)],
)
def test_ephemeral_storage_is_on_the_raid_of_local_disks(name: str, raid: bool, expected: int) -> None:
    assert Machine(name, disk_gib=200, nvme_raid=raid).capacity({})["ephemeral-storage"] == str(expected)


@pytest.mark.parametrize(("name", "arch", "expected"), CASES["a type outside the catalog is as ec2 describes it"])
def test_a_type_outside_the_catalog_is_as_ec2_describes_it(name: str, arch: str, expected: dict[str, str]) -> None:
    machine = Machine(name)
    capacity = machine.capacity({})
    assert instances.find(name) is None
    assert machine.arch == arch
    assert capacity.items() >= expected.items()
    assert ("nvidia.com/gpu" in capacity) == ("nvidia.com/gpu" in expected)
    assert to_mebibytes(machine.allocatable({})["memory"]) < to_mebibytes(expected["memory"])


def test_a_type_that_ec2_lacks_has_no_cpu_or_memory() -> None:
    machine = Machine("t3.huge")
    assert set(machine.capacity({})) == {"pods", "ephemeral-storage"}
    assert machine.allocatable({}) == machine.capacity({})
    assert machine.arch == "amd64"


def test_karpenter_labels_describe_gpus() -> None:
    labels = karpenter_labels(instances.get("p6-b200.48xlarge"))
    assert labels["karpenter.k8s.aws/instance-category"] == "p"
    assert labels["karpenter.k8s.aws/instance-generation"] == "6"
    assert labels["karpenter.k8s.aws/instance-family"] == "p6-b200"
    assert labels["karpenter.k8s.aws/instance-gpu-name"] == "b200"
    assert not [key for key in karpenter_labels(instances.get("c7i.large")) if "gpu" in key]


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
    assert found["memoryMiB"] - reserved == kind.allocatable_memory_at(kind.max_pods)
    assert found["cpu"] * 1000 - found["kubeReservedMillis"] == kind.allocatable_cpu_millis
    assert found["labels"]["karpenter.k8s.aws/instance-gpu-name"] == "l4"


def test_a_type_that_the_region_does_not_sell_is_left_out() -> None:
    sold = {one["name"] for one in machine.types("us-east-1")}
    unpriced = {kind.name for kind in instances.ALL.values() if kind.usd_per_hour is None}
    assert unpriced
    assert not sold & unpriced
    assert sold <= {kind.name for kind in instances.ALL.values() if kind.offered_in("us-east-1") is not False}
