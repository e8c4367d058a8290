import json
import os
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any, Final, get_args

import botocore.session
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.catalog import amis, document, gpus, instances, mig, regions
from spec.catalog.instances import ALL, InstanceType
from tests.support import generated
from tests.support.cases import beside

CASES: Final = beside(__file__)


@dataclass(frozen=True)
class Row:
    name: str
    gpus: int
    gpu: str
    gpu_mib: int
    vcpus: int
    ram_gib: float
    efa: int
    nvme_gb: int
    gbps: float
    pods: int
    usd: str | None
    cpu: int
    memory: int


KARPENTER = tuple(Row(*row) for row in CASES["pages of Karpenter"])
"""Instance pages of Karpenter's documentation and its price table (v1.14.1, generated 2026-07-20, us-east-1)."""

TYPES = st.sampled_from(list(ALL.values()))


@pytest.mark.parametrize("row", KARPENTER, ids=lambda row: row.name)
def test_sizes_pods_allocatable_and_price_are_those_of_karpenters_instance_pages(row: Row) -> None:
    kind = instances.get(row.name)
    assert row == Row(
        name=kind.name,
        gpus=kind.gpus,
        gpu=gpus.get(kind.gpu_name or "").ec2_name,
        gpu_mib=kind.gpu_memory_mib,
        vcpus=kind.vcpus,
        ram_gib=kind.memory_mib / 1024,
        efa=kind.efa_interfaces,
        nvme_gb=kind.nvme_gb,
        gbps=kind.network_mbps / 1000,
        pods=kind.max_pods,
        usd=None if kind.usd_per_hour is None else str(kind.usd_per_hour),
        cpu=kind.allocatable_cpu_millis,
        memory=kind.allocatable_memory_at(kind.max_pods),
    )


@pytest.mark.parametrize(
    ("name", "usd"),
    [
        ("m6i.xlarge", "0.192"),
        ("m7i.xlarge", "0.2016"),
        ("c7i.4xlarge", "0.714"),
        ("r7i.4xlarge", "1.0584"),
        ("g4dn.xlarge", "0.526"),
    ],
)
def test_cpu_types_have_their_price(name: str, usd: str) -> None:
    assert instances.get(name).usd_per_hour == Decimal(usd)


def test_the_catalog_has_the_types_of_karpenters_price_list_and_those_not_sold_on_demand_there() -> None:
    listed = document.load("karpenter.json")["types"]
    assert {name for name, kind in ALL.items() if kind.usd_per_hour is not None} == set(listed), generated.CATALOG
    assert set(ALL) - set(listed) == {"p5e.48xlarge", "trn2.3xlarge", "trn2.48xlarge"}
    assert list(ALL) == sorted(ALL) == list(instances.names())


@given(TYPES)
def test_a_gpu_is_known_by_name_and_memory_together(kind: InstanceType) -> None:
    assert (kind.gpus == 0) == (kind.gpu_name is None) == (kind.gpu_memory_mib == 0)
    if kind.gpu_name is not None:
        assert gpus.get(kind.gpu_name).memory_mib == kind.gpu_memory_mib


@given(TYPES)
def test_interfaces_fit_their_cards(kind: InstanceType) -> None:
    assert kind.network_cards * kind.primary_card_enis == kind.enis
    assert len(kind.efa_cards) == kind.efa_interfaces
    assert set(kind.efa_cards) <= set(range(kind.network_cards))


def test_the_first_card_of_b300_takes_no_efa() -> None:
    assert instances.get("p6-b300.48xlarge").efa_cards == tuple(range(1, 17))
    assert instances.get("p5.48xlarge").efa_cards == tuple(range(32))


@given(TYPES)
def test_most_of_a_node_is_allocatable_to_pods(kind: InstanceType) -> None:
    assert 0 < kind.allocatable_cpu_millis < kind.vcpus * 1000
    assert 0 < kind.allocatable_memory_at(kind.max_pods) < kind.memory_mib
    assert kind.allocatable_memory_at(kind.max_pods + 1) < kind.allocatable_memory_at(kind.max_pods)


def test_zones_that_offer_a_type_are_zones_of_their_region() -> None:
    for kind in ALL.values():
        for region, ids in kind.zone_ids.items():
            assert set(ids) <= set(regions.get(region).zone_ids), (kind.name, region)


def test_scarce_types_are_known_by_region_and_zone() -> None:
    b200 = instances.get("p6-b200.48xlarge")

    assert b200.offered_in("us-east-2") is True
    assert b200.offered_in("eu-central-1") is False
    assert b200.offered_in("mx-central-1") is None, "no record of what is offered there"
    assert b200.zone_ids["eu-north-1"] == ("eun1-az2",)
    assert instances.get("p5e.48xlarge").zone_ids, "the type without an on-demand price is offered somewhere"


def test_only_types_for_large_models_are_sold_as_capacity_blocks() -> None:
    blocks = {kind.name for kind in ALL.values() if "capacity-block" in kind.markets}

    assert blocks == {"trn1.32xlarge", *(name for name in ALL if name.startswith(("p", "trn2")))}
    assert all("spot" in kind.markets for kind in ALL.values())


@pytest.mark.parametrize(
    ("mistyped", "meant"),
    [("p4d.24xlage", "p4d.24xlarge"), ("P5.48XLARGE", "p5.48xlarge"), ("g5.12xl", "g5.12xlarge"), ("zzz", None)],
)
def test_a_mistyped_name_has_a_suggestion(mistyped: str, meant: str | None) -> None:
    assert instances.closest(mistyped) == meant


def test_an_unknown_type_is_refused_with_a_hint() -> None:
    assert instances.find("p4d.24xlage") is None
    with pytest.raises(KeyError, match=r"no instance type 'p4d.24xlage': did you mean 'p4d.24xlarge'"):
        instances.get("p4d.24xlage")


@pytest.mark.skipif(not os.environ.get("SLIPWAY_SHARED"), reason="SLIPWAY_SHARED names no directory of reference data")
def test_interfaces_agree_with_karpenters_table_for_every_type() -> None:
    path = Path(os.environ["SLIPWAY_SHARED"]) / "reference" / "instances.json"
    table = json.loads(path.read_text(), parse_float=Decimal)["instances"]

    assert set(table) <= {kind.name for kind in ALL.values() if kind.usd_per_hour is not None}
    for name, row in table.items():
        kind = instances.get(name)
        assert (kind.enis, kind.ipv4_per_eni, kind.network_cards, kind.network_mbps) == (
            row["enis"],
            row["ipv4_per_eni"],
            row["network_cards"],
            row["network_mbps"],
        ), name
        assert kind.usd_per_hour == row["usd_per_hour"], name


def test_each_model_is_on_some_instance_type_and_each_gpu_has_a_model() -> None:
    on_instances = {kind.gpu_name for kind in instances.ALL.values() if kind.gpu_name}

    assert on_instances == set(gpus.GPUS)


def test_the_two_variants_of_the_a100_differ_by_memory() -> None:
    assert gpus.by_ec2("A100", 40960) == gpus.get("A100-40GB")
    assert gpus.by_ec2("A100", 81920) == gpus.get("A100-80GB")
    assert {gpus.get("A100-40GB").accelerator, gpus.get("A100-80GB").accelerator} == {"nvidia-a100"}


def test_mig_is_for_data_centre_gpus_and_reboots_the_a100_only() -> None:
    modes = {model.name: model.mig for model in gpus.GPUS.values()}

    assert {name for name, mode in modes.items() if mode == "reboot"} == {"A100-40GB", "A100-80GB"}
    assert {name for name, mode in modes.items() if mode == "none"} == {
        "T4", "A10G", "L4", "L40S", "RTX-PRO-6000", *(model.name for model in gpus.GPUS.values() if not model.whole)
    }  # fmt: skip
    assert {model.name for model in gpus.GPUS.values() if model.mig_capable} == set(mig.PROFILES)


def test_pci_ids_belong_to_one_model_of_nvidia() -> None:
    ids = [pci for model in gpus.GPUS.values() for pci in model.pci_ids]

    assert len(ids) == len(set(ids))
    assert all(pci.endswith("10DE") for pci in ids)


def test_an_unknown_gpu_is_refused() -> None:
    with pytest.raises(KeyError, match=r"no GPU 'V100': it has .*A100-40GB"):
        gpus.get("V100")
    assert gpus.by_ec2("A100", 99) is None


@pytest.mark.parametrize(("os", "gpu", "arch"), list(product(get_args(amis.Os), (False, True), get_args(amis.Arch))))
def test_ami_types_are_in_the_enumeration_of_the_eks_api(os: amis.Os, gpu: bool, arch: amis.Arch) -> None:
    enumeration: Any = botocore.session.get_session().get_service_model("eks").shape_for("AMITypes")

    name = amis.ami_type(os, gpu=gpu, arch=arch)
    assert name in enumeration.enum
    assert ("NVIDIA" in name) == gpu
    assert ("ARM" in name) == (arch == "arm64")


def test_karpenter_aliases_are_pinned_or_the_latest() -> None:
    assert amis.karpenter_alias("al2023") == "al2023@latest"
    assert amis.karpenter_alias("al2023", "v20261101") == "al2023@v20261101"
    assert amis.karpenter_alias("al2023", "1.35.6-20260714") == "al2023@v20260714"
    assert amis.karpenter_alias("bottlerocket", "v1.64.0") == "bottlerocket@v1.64.0"


def test_release_parameters_name_version_variant_and_architecture() -> None:
    assert (
        amis.release_parameter("al2023", "1.35", gpu=True)
        == "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/nvidia/recommended/release_version"
    )
    assert (
        amis.release_parameter("bottlerocket", "1.35", gpu=True, arch="arm64")
        == "/aws/service/bottlerocket/aws-k8s-1.35-nvidia/arm64/latest/image_version"
    )
