import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from spec import strict_yaml
from spec.catalog import gpus, mig
from tests.support.cases import beside

CASES: Final = beside(__file__)

CAPABLE = sorted(mig.PROFILES)
TABLES: dict[str, tuple[dict[str, int], dict[str, int]]] = CASES["tables"]
"""Uniform and balanced layouts by GPU, of NVIDIA's mig-parted (v0.15.0)."""


@pytest.mark.parametrize("gpu", sorted(TABLES))
def test_layouts_are_those_of_mig_parted(gpu: str) -> None:
    uniform, balanced = TABLES[gpu]

    assert {layout: count for each in mig.uniform_layouts(gpu).values() for layout, count in each.items()} == uniform
    assert mig.named_layout("all-balanced", gpu) == balanced


NVML: dict[str, Any] = strict_yaml.beside(__file__, "nvml")


@pytest.mark.parametrize("gpu", sorted(NVML))
def test_profiles_are_those_of_real_cards(gpu: str) -> None:
    found = {
        name: [profile.memory_mib, profile.maximum, list(profile.starts), profile.memory]
        for name, profile in mig.PROFILES[gpu].items()
    }
    assert found == NVML[gpu]["profiles"]
    assert NVML[gpu]["pci"] in gpus.get(gpu).pci_ids


@pytest.mark.parametrize("gpu", CAPABLE)
def test_every_named_layout_fits_and_one_more_of_a_profile_does_not(gpu: str) -> None:
    for name in mig.layout_names(gpu):
        layout = mig.named_layout(name, gpu)
        assert layout is not None
        assert not layout or mig.layout_problem(gpu, layout) is None, name
    for layout in mig.uniform_layouts(gpu).values():
        ((profile, count),) = layout.items()
        assert mig.layout_problem(gpu, {profile: count + 1}) is not None, profile


def test_a_layout_of_the_same_name_depends_on_the_gpu() -> None:
    assert mig.named_layout("all-1g.10gb", "A100-40GB") == {"1g.10gb": 4}
    assert mig.named_layout("all-1g.10gb", "H100-80GB") == {"1g.10gb": 7}
    assert mig.named_layout("all-1g.10gb", "B200") is None
    assert mig.named_layout("all-1g.10gb.me", "A100-80GB") == {"1g.10gb+me": 1}


def test_layouts_for_gpus_without_mig() -> None:
    assert not mig.is_capable("A10G")
    assert mig.layout_names("A10G") == ("all-disabled",)
    assert mig.named_layout("all-disabled", "A10G") == {}
    assert mig.named_layout("all-balanced", "A10G") is None
    assert mig.layout_problem("A10G", {"1g.5gb": 1}) == "A10G does not support MIG"


@pytest.mark.parametrize(("gpu", "layout", "words"), CASES["an impossible layout is refused with the reason"])
def test_an_impossible_layout_is_refused_with_the_reason(gpu: str, layout: dict[str, int], words: str) -> None:
    assert words in (mig.layout_problem(gpu, layout) or "")


@pytest.mark.parametrize("layout", CASES["mixes that nvidia shows fit an a100"])
def test_mixes_that_nvidia_shows_fit_an_a100(layout: dict[str, int]) -> None:
    assert mig.layout_problem("A100-40GB", layout) is None


@given(gpu=st.sampled_from(CAPABLE), data=st.data())
def test_a_layout_fits_exactly_when_some_assignment_of_starts_is_free_of_overlap(gpu: str, data: st.DataObject) -> None:
    profiles = mig.PROFILES[gpu]
    layout = data.draw(st.dictionaries(st.sampled_from(sorted(profiles)), st.integers(1, 3), min_size=1, max_size=3))

    wanted = [profiles[name] for name, count in layout.items() for _ in range(count)]
    counted = sum(p.compute for p in wanted) <= 7 and all(c <= profiles[n].maximum for n, c in layout.items())
    fits = counted and any(_apart(wanted, starts) for starts in product(*(p.starts for p in wanted)))
    assert (mig.layout_problem(gpu, layout) is None) == fits


def _apart(wanted: list[mig.Profile], starts: tuple[int, ...]) -> bool:
    slices = [at for p, start in zip(wanted, starts, strict=True) for at in range(start, start + p.memory)]
    return len(slices) == len(set(slices)) and max(slices) < 8


def test_resources_are_named_as_the_device_plugin_names_them() -> None:
    assert mig.resource_name("1g.10gb") == "nvidia.com/mig-1g.10gb"
    assert mig.resource_name("1g.10gb+me") == "nvidia.com/mig-1g.10gb.me"
    assert mig.resources({"1g.5gb": 7}, 8) == {"nvidia.com/mig-1g.5gb": 56}
    assert mig.resources({}, 8) == {"nvidia.com/gpu": 8}


def _upstream() -> Iterator[tuple[str, str, dict[str, int]]]:
    """GPU, name and instances of each layout of mig-parted's own file that names or fits a GPU of the catalog."""
    path = Path(os.environ["SLIPWAY_SHARED"]) / "charts" / "gpu-operator" / "mig-parted-config-default.yaml"
    configs: dict[str, list[dict[str, Any]]] = yaml.safe_load(path.read_text())["mig-configs"]
    for name, entries in configs.items():
        for entry in entries:
            for model in gpus.GPUS.values():
                layout = entry.get("mig-devices") or {}
                asked = entry.get("device-filter")
                names_it = bool(set([asked] if isinstance(asked, str) else asked or ()) & set(model.pci_ids))
                if layout and (names_it or (asked is None and set(layout) <= set(mig.PROFILES.get(model.name, ())))):
                    yield model.name, name, layout


@pytest.mark.skipif(not os.environ.get("SLIPWAY_SHARED"), reason="SLIPWAY_SHARED names no directory of reference data")
def test_every_layout_of_mig_parteds_own_file_is_known_by_its_name() -> None:
    layouts = list(_upstream())

    assert {gpu for gpu, _, _ in layouts} == set(CAPABLE)
    for gpu, name, layout in layouts:
        assert mig.layout_problem(gpu, layout) is None, (gpu, name)
        assert mig.named_layout(name, gpu) == layout, (gpu, name)
    known = {(gpu, name) for gpu in CAPABLE for name in mig.layout_names(gpu)} - {
        (gpu, "all-disabled") for gpu in CAPABLE
    }
    assert known == {(gpu, name) for gpu, name, _ in layouts}, "the catalog has no layout that mig-parted lacks"


def test_an_own_layout_is_named_by_its_profiles() -> None:
    layout = {"3g.20gb": 1, "1g.5gb+me": 1, "1g.5gb": 2}
    assert mig.own_name(layout) == "slipway-2x1g.5gb-1x1g.5gb.me-1x3g.20gb"
    assert mig.layout_of(mig.own_name(layout), "A100-40GB") == layout


@pytest.mark.parametrize("name", ["slipway", "slipway-a100", "slipway-x1g.5gb", "slipway-2x9g.5gb", "custom", ""])
def test_an_unknown_name_is_not_a_layout(name: str) -> None:
    assert mig.layout_of(name, "A100-40GB") is None


def test_a_name_of_mig_parted_is_read_as_such() -> None:
    for name in mig.layout_names("H100-80GB"):
        assert mig.layout_of(name, "H100-80GB") == mig.named_layout(name, "H100-80GB")


@pytest.mark.parametrize("gpu", CAPABLE)
def test_every_own_layout_has_a_name_that_is_a_valid_label_and_identifies_it(gpu: str) -> None:
    counts = [range(profile.maximum + 1) for profile in mig.PROFILES[gpu].values()]
    for chosen in product(*counts):
        layout = {name: count for name, count in zip(mig.PROFILES[gpu], chosen, strict=True) if count}
        if sum(chosen) <= mig.COMPUTE_SLICES and mig.layout_problem(gpu, layout) is None:
            assert len(mig.own_name(layout)) <= 63
            assert mig.layout_of(mig.own_name(layout), gpu) == layout


def test_an_absurd_count_is_refused_at_once() -> None:
    problem = mig.layout_problem("A100-40GB", {"1g.5gb": 10**12, "3g.20gb": 1})
    assert problem == "one A100-40GB holds at most 7 of 1g.5gb, and 1000000000000 are requested"
