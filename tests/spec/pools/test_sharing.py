import pytest

from spec.pools.keys import config_name, replicas_of


@pytest.mark.parametrize("mode", ["time-slicing", "mps"])
@pytest.mark.parametrize("replicas", [2, 4, 48])
def test_the_name_of_a_configuration_contains_its_replicas(mode: str, replicas: int) -> None:
    assert replicas_of(config_name(mode, replicas)) == replicas


@pytest.mark.parametrize("name", ["", "exclusive", "mps-0", "mps-", "mps-4x", "vgpu-4", "time-slicing-04"])
def test_any_other_name_means_no_sharing(name: str) -> None:
    assert replicas_of(name) == 1
