import pytest

from spec.catalog import regions
from spec.catalog.regions import ACCOUNTS, eks_registry


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("us-east-1", "602401143452.dkr.ecr.us-east-1.amazonaws.com"),
        ("us-gov-west-1", "013241004608.dkr.ecr.us-gov-west-1.amazonaws.com"),
        ("cn-north-1", "918309763551.dkr.ecr.cn-north-1.amazonaws.com.cn"),
        ("us-iso-east-1", None),
    ],
)
def test_images_come_from_the_region_of_the_nodes(region: str, host: str | None) -> None:
    assert eks_registry(region) == host


def test_every_region_with_a_registry_is_one_and_its_account_a_number() -> None:
    assert set(ACCOUNTS) <= set(regions.REGIONS)
    assert all(len(account) == 12 and account.isdecimal() for account in ACCOUNTS.values())
