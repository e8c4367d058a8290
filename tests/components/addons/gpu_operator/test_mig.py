"""MIG layouts in mig-parted's format."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.addons.gpu_operator.mig import configuration
from spec.catalog import gpus, mig
from spec.pools import resolve_all
from tests.components.pools.samples import platform

A40 = {"preset": "a100"}
A80 = {"preset": "a100", "instanceTypes": ["p4de.24xlarge"]}
H100 = {"preset": "h100"}
DISABLED = [{"devices": "all", "mig-enabled": False}]


def layouts(**pools: dict[str, Any]) -> dict[str, Any]:
    document = configuration(resolve_all(platform(pools)).values())
    assert document["version"] == "v1"
    return dict(document["mig-configs"])


def test_without_mig_no_gpu_is_partitioned() -> None:
    assert layouts(a=A40, l4={"preset": "gpu-spot"}) == {"all-disabled": DISABLED}
    assert layouts(a={**A40, "mig": {"layout": "all-disabled"}}) == {"all-disabled": DISABLED}


def test_only_layouts_in_use_are_configured() -> None:
    assert layouts(a={**A40, "mig": {"layout": "all-balanced"}}) == {
        "all-disabled": DISABLED,
        "all-balanced": [
            {"devices": "all", "mig-enabled": True, "mig-devices": {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1}}
        ],
    }


def test_a_custom_layout_has_the_name_in_the_node_label() -> None:
    pool = {**A40, "mig": {"profiles": {"1g.5gb+me": 1, "3g.20gb": 1}}}
    (label,) = {
        spec.labels["nvidia.com/mig.config"] for spec in resolve_all(platform({"a": pool})).values() if spec.mig
    }
    assert layouts(a=pool)[label] == [
        {"devices": "all", "mig-enabled": True, "mig-devices": {"1g.5gb+me": 1, "3g.20gb": 1}}
    ]


def test_pools_with_one_layout_share_it() -> None:
    layout = {"mig": {"profiles": {"1g.10gb": 1, "3g.40gb": 1}}}
    manifests = layouts(a={**A80, **layout}, b={**H100, **layout}, c={**A80, **layout})
    assert set(manifests) == {"all-disabled", "slipway-1x1g.10gb-1x3g.40gb"}
    assert len(manifests["slipway-1x1g.10gb-1x3g.40gb"]) == 1


def test_a_layout_that_differs_by_gpu_model_is_filtered_by_pci_id() -> None:
    layout = {"mig": {"layout": "all-1g.10gb"}}
    manifests = layouts(a={**A40, **layout}, b={**A80, **layout}, c={**H100, **layout})["all-1g.10gb"]
    assert {entry["mig-devices"]["1g.10gb"]: set(entry["device-filter"]) for entry in manifests} == {
        4: set(gpus.get("A100-40GB").pci_ids),
        7: {*gpus.get("A100-80GB").pci_ids, *gpus.get("H100-80GB").pci_ids},
    }


def test_a_layout_of_one_gpu_model_has_no_filter() -> None:
    (entry,) = layouts(a={**A40, "mig": {"layout": "all-1g.10gb"}})["all-1g.10gb"]
    assert "device-filter" not in entry


def test_no_pci_id_is_in_two_entries_of_a_layout() -> None:
    pools = {
        "a": {**A40, "mig": {"layout": "all-balanced"}},
        "b": {**A80, "mig": {"layout": "all-balanced"}},
        "c": {**H100, "mig": {"layout": "all-balanced"}},
        "d": {**H100, "instanceTypes": ["p6-b200.48xlarge"], "mig": {"layout": "all-balanced"}},
    }
    cards = [card for entry in layouts(**pools)["all-balanced"] for card in entry["device-filter"]]
    assert len(cards) == len(set(cards))


@pytest.mark.skipif("SLIPWAY_SHARED" not in os.environ, reason="SLIPWAY_SHARED names no directory of shared samples")
def test_a_named_layout_equals_nvidias_for_the_same_pci_id() -> None:
    path = Path(os.environ["SLIPWAY_SHARED"]) / "charts" / "gpu-operator" / "mig-parted-config-default.yaml"
    theirs = yaml.safe_load(path.read_text())["mig-configs"]
    for pool in (A40, A80, H100):
        gpu = next(spec.gpu for spec in resolve_all(platform({"a": pool})).values() if spec.gpu)
        for name in mig.layout_names(gpu.name):
            for entry in layouts(a={**pool, "mig": {"layout": name}})[name]:
                same = [
                    other
                    for other in theirs[name]
                    if not other.get("device-filter") or set(gpu.pci_ids) & set(other["device-filter"])
                ]
                assert entry.get("mig-devices") in [other.get("mig-devices") for other in same], (gpu.name, name)
                assert entry["mig-enabled"] is same[0]["mig-enabled"]
