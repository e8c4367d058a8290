"""`slipway catalog prices`."""

from datetime import UTC, date, datetime
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from botocore.exceptions import NoCredentialsError

from slipway.cli import cost as command
from slipway.cost.prices import QUERIES, Refreshed, query_of, refresh
from slipway.engine.project import find
from spec.catalog import ageing, instances
from spec.catalog import prices as catalog
from tests.slipway.conftest import Slipway
from tests.slipway.cost.price_list import FakeEc2, FakePricing, complete, product
from tests.spec.catalog import facts
from tests.support.price_book import BOOK

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
LINUX = {
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "preInstalledSw": "NA",
    "capacitystatus": "Used",
    "licenseModel": "No License required",
}
POSTGRES = {"databaseEngine": "PostgreSQL", "deploymentOption": "Single-AZ"}
PRODUCTS = [
    product("AmazonEC2", "EU-NatGateway-Hours", "0.048"),
    product("AmazonEC2", "EU-EBS:VolumeUsage.gp3", "0.088"),
    product("AmazonEC2", "EU-EBS:VolumeP-Throughput.gp3", "45.056"),
    # The list has the free tier first.
    product("AWSQueueService", "EU-Requests", "0", "0.0000004", "0.0000003", queueType="Standard"),
    product("AmazonEFS", "EU-ETDataAccess-Bytes", "0.033", accessType="Read"),
    product("AmazonEFS", "EU-ETDataAccess-Bytes", "0.066", accessType="Write"),
    product("awskms", "eu-west-1-KMS-Keys", "1.0"),
    # Two prices for one query are ambiguous.
    product("AmazonECR", "EU-TimedStorage-ByteHrs", "0.1"),
    product("AmazonECR", "EU-TimedStorage-ByteHrs", "0.2"),
    product("AmazonRDS", "EU-InstanceUsage:db.t4g.medium", "0.072", **POSTGRES),
    product("AmazonRDS", "EU-InstanceUsage:db.t4g.medium", "0.071", **{**POSTGRES, "databaseEngine": "MySQL"}),
    product("AmazonEC2", "EU-BoxUsage:g6.xlarge", "0.9", instanceType="g6.xlarge", **LINUX),
    product("AmazonEC2", "EU-BoxUsage:m7i.large", "0.1124", instanceType="m7i.large", **LINUX),
]
SPOT = [("g6.xlarge", "0.40"), ("g6.xlarge", "0.50"), ("m7i.large", "0.05")]


def refreshed(region: str = "eu-west-1", products: list[Any] | None = None) -> Refreshed:
    kinds = ("g6.xlarge", "m7i.large", "p5.48xlarge")
    return refresh(FakePricing(PRODUCTS if products is None else products), FakeEc2(SPOT), region, NOW, kinds)


def test_every_query_names_a_service_a_usage_type_and_a_unit() -> None:
    # Codes of services are like these (AWS Price List, DescribeServices).
    assert [name for name, one in QUERIES.items() if not one.service.startswith(("AWS", "Amazon", "aws"))] == []
    assert [name for name, one in QUERIES.items() if not one.usage or not one.unit] == []


def test_prices_are_taken_from_the_list_per_unit_of_the_catalog() -> None:
    prices = refreshed().document["prices"]
    usd = {name: Decimal(entry["usd"]) for name, entry in prices.items()}
    assert usd["nat-gateway"] == Decimal("0.048")
    assert usd["kms-key"] == 1
    assert usd["ebs-gp3-throughput"] == Decimal("0.044")
    assert (usd["sqs-request"], prices["sqs-request"]["per"]) == (Decimal("0.4"), 1_000_000)
    assert (usd["efs-read"], usd["efs-written"]) == (Decimal("0.033"), Decimal("0.066"))
    assert usd["rds-postgres-db.t4g.medium"] == Decimal("0.072")
    assert usd["rds-mysql-db.t4g.medium"] == Decimal("0.071")
    assert prices["nat-gateway"]["date"] == date(2026, 11, 1)
    assert "EU-NatGateway-Hours, version 20261101" in prices["nat-gateway"]["source"]


def test_a_price_that_the_list_does_not_have_is_missing_with_its_reason() -> None:
    found = refreshed()
    assert "no AWSSecretsManager-Secrets in eu-west-1" in found.missing["secret"]
    assert "2 prices for TimedStorage-ByteHrs" in found.missing["ecr-storage"]
    assert "no single product" in found.missing["transfer-regions"]
    assert not set(found.missing) & set(found.document["prices"])
    assert set(found.missing) <= set(found.document["unpriced"])
    assert "p5.48xlarge" not in found.document["instances"]


def test_a_region_with_a_file_keeps_the_prices_that_the_list_does_not_have() -> None:
    found = refreshed(catalog.REGION, [])
    assert set(found.kept) == set(catalog.PRICES)
    entry = found.document["prices"]["nat-gateway"]
    assert (entry["usd"], entry["date"]) == ("0.045", catalog.PRICES["nat-gateway"].source.day)
    assert found.document["prices"]["sqs-request"]["per"] == 1_000_000
    assert found.name == "prices.yaml"


def test_spot_savings_are_weekly_averages_of_gpu_types() -> None:
    spot = refreshed().document["spot"]
    assert spot["types"] == {"g6.xlarge": "0.50"}
    assert spot["low"] == spot["high"] == "0.50"
    assert spot["date"] == NOW.date()
    assert refreshed(products=[]).document["spot"]["source"] == catalog.SPOT.source.text


def test_the_same_responses_give_the_same_file() -> None:
    assert refreshed().text == refreshed().text
    assert refreshed(products=PRODUCTS[::-1]).text == refreshed().text


def test_a_written_file_is_a_valid_price_book(tmp_path: Path) -> None:
    path = refreshed().write(tmp_path)
    assert path.name == "prices-eu-west-1.yaml"
    book = catalog.read(yaml.safe_load(path.read_text(encoding="utf-8")))
    assert book.region == "eu-west-1"
    assert book.get("nat-gateway").usd == Decimal("0.048")
    kind = book.instance("m7i.large")
    assert kind is not None
    assert kind.usd == Decimal("0.1124")
    # The price of another region is not used for this one.
    assert book.instance("p5.48xlarge") is None


@pytest.mark.parametrize("region", [catalog.REGION, "eu-west-1"])
def test_a_file_of_a_later_day_and_of_other_prices_passes_the_checks_of_the_catalogs_own(
    region: str, tmp_path: Path
) -> None:
    later = date(2028, 1, 1)
    whole = refresh(*complete(region, later, Decimal("1.07")), region, datetime(2028, 1, 2, tzinfo=UTC))
    path = whole.write(tmp_path)
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    book = catalog.read(document)
    facts.check_sources(document)
    facts.check_lines(path)
    facts.check_book(book)
    facts.check_magnitude(book, BOOK)
    assert {book.prices[name].source.day for name in whole.taken} == {later}
    assert set(book.on_demand) == set(instances.ALL)
    aged = ageing.aged(path.name, document, date(2028, 12, 31))
    # Only what the price list lacks stays as old as it was.
    assert str(aged).partition(" of ")[0].endswith(f"{path.name}: {len(whole.kept)}") if whole.kept else aged is None


def test_every_page_is_read() -> None:
    pricing = FakePricing(PRODUCTS)
    refresh(pricing, FakeEc2(SPOT), "eu-west-1", NOW, ())
    assert [request for request in pricing.requests if request.get("NextToken") == "1"]


def test_every_price_of_the_catalog_has_a_query_of_the_same_unit() -> None:
    without = {name for name in catalog.PRICES if query_of(name) is None}
    # The usage types of the tiers of control planes were not found (2026-11).
    assert without - {"eks-tier-xl", "eks-tier-8xl"} == {"transfer-regions", "fsx-lustre-scratch-2"}
    units = {name: (catalog.PRICES[name].unit, QUERIES[name].unit) for name in QUERIES if name in catalog.PRICES}
    assert [name for name, (ours, theirs) in units.items() if ours != theirs] == []


def test_without_credentials_the_command_lists_the_permissions_it_needs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, slipway: Slipway
) -> None:
    class WithoutCredentials:
        def get_products(self, **_: Any) -> None:
            raise NoCredentialsError

    monkeypatch.setattr(command, "clients", lambda _: (WithoutCredentials(), FakeEc2([])))
    error = slipway("catalog prices --out", tmp_path, code=1).err
    assert "pricing:GetProducts" in error
    assert "catalog's own dated prices are used" in error
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_a_file_per_region_and_reports_missing_prices(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, slipway: Slipway
) -> None:
    monkeypatch.setattr(command, "clients", lambda _: (FakePricing(PRODUCTS), FakeEc2(SPOT)))
    shown = slipway("catalog prices --region eu-west-1 --region us-east-1 --out", tmp_path).out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["prices-eu-west-1.yaml", "prices.yaml"]
    assert "without a price: secret " in shown


def test_by_default_the_catalogs_own_folder_is_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, slipway: Slipway
) -> None:
    own = Path(str(files("spec.catalog") / "data")).relative_to(find(Path(__file__)).root)
    (tmp_path / own).mkdir(parents=True)
    (tmp_path / "Pulumi.yaml").write_text("name: slipway\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "clients", lambda _: (FakePricing(PRODUCTS), FakeEc2(SPOT)))
    assert str(own) in slipway("catalog prices --region eu-west-1").out
    assert [path.name for path in (tmp_path / own).iterdir()] == ["prices-eu-west-1.yaml"]
