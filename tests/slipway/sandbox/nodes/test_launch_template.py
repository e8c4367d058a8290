from __future__ import annotations

import base64

import pytest

from slipway.sandbox.nodes.launch_template import Template, read_template


def encoded(text: str) -> dict[str, str]:
    return {"UserData": base64.b64encode(text.encode()).decode()}


@pytest.mark.parametrize("data", [None, {}, {"UserData": "no base64!"}, {"NetworkInterfaces": []}])
def test_an_empty_template_changes_nothing(data: dict[str, object] | None) -> None:
    assert read_template(data) == Template()


def test_adapters_of_either_kind_count_and_plain_interfaces_do_not() -> None:
    kinds = ["efa", "efa-only", "efa-only", "interface"]
    assert read_template({"NetworkInterfaces": [{"InterfaceType": kind} for kind in kinds]}).efa == 3


def test_the_disk_size_is_that_of_the_largest_volume() -> None:
    devices = [{"Ebs": {"VolumeSize": size}} for size in (4, 200)]
    assert read_template({"BlockDeviceMappings": devices}).disk_gib == 200


@pytest.mark.parametrize(
    "text",
    [
        'spec:\n  kubelet:\n    flags: ["--max-pods=58"]',
        "[settings.kubernetes]\nmax-pods = 58\n",
        "spec:\n  kubelet:\n    config:\n      maxPods: 58",
    ],
)
def test_max_pods_is_read_from_every_form_of_user_data(text: str) -> None:
    assert read_template(encoded(text)).max_pods == 58


def test_a_raid_of_local_disks_is_detected() -> None:
    assert read_template(encoded("instance:\n  localStorage:\n    strategy: RAID0")).nvme_raid
    assert not read_template(encoded("instance: {}")).nvme_raid


def test_the_instance_type_of_a_capacity_block_is_read_from_the_template() -> None:
    assert read_template({"InstanceType": "p5.48xlarge"}).instance_type == "p5.48xlarge"
