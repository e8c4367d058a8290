"""Warnings about devices that no pod can request."""

from typing import Any

from tests.spec.settings.stack import DELETE, loaded

WHOLE: dict[str, Any] = {"pools.a100.mig": DELETE}


def warned(**changes: Any) -> dict[str, str]:
    """Values of the warnings, by path."""
    settings = {path.replace("__", "."): value for path, value in changes.items()}
    return {warning.path: str(warning.value) for warning in loaded({**WHOLE, **settings}).warnings}


def test_whole_gpus_without_a_device_plugin_are_a_warning() -> None:
    assert warned(addons={"efaDevicePlugin": {}}) == {"addons.gpuOperator": "pools a100, h100, l4"}


def test_adapters_without_their_device_plugin_are_a_warning() -> None:
    assert warned(addons={"gpuOperator": {}}) == {"addons.efaDevicePlugin": "pools h100"}


def test_bottlerocket_needs_no_device_plugin() -> None:
    without: dict[str, Any] = {"pools__a100": DELETE, "pools__h100": DELETE, "addons": {}}
    bottlerocket = {"preset": "gpu-spot", "os": "bottlerocket", "localNvme": "none"}
    assert warned(**without, pools__l4={**bottlerocket, "sharing": {"mode": "mps", "replicas": 2}}) == {}


def test_a_type_on_which_a_share_has_too_little_cpu_or_memory_is_a_warning() -> None:
    """The smallest type of the preset has 3.9 vCPUs and 13 GiB."""
    shared: dict[str, Any] = {"preset": "gpu-spot", "sharing": {"mode": "time-slicing", "replicas": 4}}
    assert warned(pools__l4=shared) == {"pools.l4.instanceTypes": "g6.xlarge"}
    assert warned(pools__l4={**shared, "instanceTypes": ["g6.2xlarge", "g6.4xlarge", "g6.8xlarge"]}) == {}
    assert warned(pools__l4={**shared, "sharing": {"mode": "time-slicing", "replicas": 3}}) == {}


def test_a_stack_without_gpus_and_adapters_has_no_warnings() -> None:
    assert warned(pools__a100=DELETE, pools__h100=DELETE, pools__l4=DELETE, addons={}) == {}


def test_a_stack_with_both_device_plugins_has_no_warnings() -> None:
    assert warned() == {}
