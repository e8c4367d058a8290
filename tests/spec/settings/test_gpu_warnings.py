"""Devices that no pod could ask for."""

from __future__ import annotations

from typing import Any

from tests.spec.settings.stack import DELETE, loaded

WHOLE: dict[str, Any] = {"pools.a100.mig": DELETE}


def warned(**changes: Any) -> dict[str, str]:
    given = {path.replace("__", "."): value for path, value in changes.items()}
    return {found.path: str(found.value) for found in loaded({**WHOLE, **given}).warnings}


def test_whole_gpus_without_a_device_plugin_are_warned_of() -> None:
    assert warned(addons={"efaDevicePlugin": {}}) == {"addons.gpuOperator": "pools a100, h100, l4"}


def test_adapters_without_their_device_plugin_are_warned_of() -> None:
    assert warned(addons={"gpuOperator": {}}) == {"addons.efaDevicePlugin": "pools h100"}


def test_bottlerocket_offers_its_gpus_itself() -> None:
    without: dict[str, Any] = {"pools__a100": DELETE, "pools__h100": DELETE, "addons": {}}
    bottlerocket = {"preset": "gpu-spot", "os": "bottlerocket", "localNvme": "none"}
    assert warned(**without, pools__l4={**bottlerocket, "sharing": {"mode": "mps", "replicas": 2}}) == {}


def test_a_stack_without_gpus_and_adapters_is_warned_of_nothing() -> None:
    assert warned(pools__a100=DELETE, pools__h100=DELETE, pools__l4=DELETE, addons={}) == {}


def test_both_device_plugins_leave_nothing_to_warn_of() -> None:
    assert warned() == {}
