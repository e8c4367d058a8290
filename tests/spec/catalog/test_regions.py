import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.catalog import document, instances, regions
from spec.settings.environment import Account


@pytest.mark.parametrize(
    ("region", "partition", "suffix"),
    [
        ("us-east-1", "aws", "amazonaws.com"),
        ("cn-north-1", "aws-cn", "amazonaws.com.cn"),
        ("us-gov-west-1", "aws-us-gov", "amazonaws.com"),
    ],
)
def test_a_region_has_a_partition_and_its_domain(region: str, partition: str, suffix: str) -> None:
    assert regions.partition(region) == partition
    assert regions.get(region).dns_suffix == suffix


@pytest.mark.parametrize(
    ("region", "letters"),
    [
        ("us-east-1", "abcdef"),
        ("us-west-2", "abcd"),
        ("eu-west-1", "abc"),
        ("eu-west-2", "abcd"),
        ("ap-northeast-1", "abcd"),
        ("mx-central-1", "abc"),
        ("cn-north-1", ""),
    ],
)
def test_zones_are_those_that_some_account_has(region: str, letters: str) -> None:
    assert regions.zones(region) == tuple(f"{region}{letter}" for letter in letters)


def test_settings_accept_the_name_of_every_region() -> None:
    names = regions.NAMES.removeprefix("one of ").split(", ")
    assert len(names) == len(regions.REGIONS)
    for name in names:
        assert Account(id="111122223333", region=name).region == name


def test_every_commercial_region_has_three_zones_or_more() -> None:
    commercial = [region for region in regions.REGIONS.values() if region.partition == "aws"]

    assert len(commercial) == 34
    assert all(len(region.zones) >= 3 and len(region.zone_ids) >= 3 for region in commercial)


def test_zone_ids_are_listed_for_known_regions_only() -> None:
    assert set(document.load("zone-ids.yaml")["zone_ids"]) <= set(regions.REGIONS)
    assert set(regions.REGIONS) >= instances.OFFERING_REGIONS


@given(st.text(max_size=12))
def test_a_name_outside_the_table_is_not_a_region(name: str) -> None:
    assert regions.is_region(name) == (name in regions.REGIONS)


def test_a_region_that_does_not_exist_is_refused() -> None:
    assert not regions.is_region("us-east-9")
    with pytest.raises(KeyError, match="us-east-9"):
        regions.zones("us-east-9")
