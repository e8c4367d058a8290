"""Types that a user adds: read from EC2's own description, checked, and then types like the others."""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from sandbox.nodes import ec2_types, machine
from spec.catalog import instances, own_types
from spec.errors import SlipwayError
from spec.pools import resolve_all
from spec.settings import load
from tests.spec.settings.stack import BASE, changed, problems
from tests.support.cases import beside
from tests.support.day import TODAY
from tools import refresh_catalog

CASES: Final = beside(__file__)
NAME: Final = "g5g.4xlarge"
"""With GPUs and arm64, and not in the catalog."""
MADE: Final = {"source": "aws ec2 describe-instance-types", "date": date(2026, 11, 29)}


def row() -> dict[str, Any]:
    return {**MADE, **ec2_types.shape(ec2_types.described()[NAME]), "gpu_name": "T4"}


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = instances.of(NAME, {**row(), "usd_per_hour": "0.828"}, {})
    monkeypatch.setattr(instances, "ALL", {**instances.ALL, NAME: kind})


def test_the_tool_prints_rows_that_are_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = tmp_path / "described.json"
    answer.write_text(json.dumps({"InstanceTypes": [ec2_types.described()["c7gd.xlarge"]]}))
    assert refresh_catalog.main(["--describe", str(answer)]) == 0
    rows = yaml.safe_load(capsys.readouterr().out)["types"]
    assert own_types.checked(rows, instances.ALL)["c7gd.xlarge"]["arch"] == "arm64"


@pytest.mark.parametrize(("change", "text"), CASES["a mistake is refused"])
def test_a_mistake_is_refused_with_path_rule_value_and_fix(change: dict[str, Any], text: str) -> None:
    with pytest.raises(SlipwayError) as error:
        own_types.checked({NAME: {**row(), **change}}, ())
    assert text in str(error.value)
    assert str(error.value).startswith("spec/catalog/data/own-types.yaml, types.")


def test_a_type_of_the_catalog_and_a_name_without_size_are_refused() -> None:
    with pytest.raises(SlipwayError, match="the catalog has this type"):
        own_types.checked({NAME: row()}, {NAME})
    with pytest.raises(SlipwayError, match="a family and a size"):
        own_types.checked({"g5g": row()}, ())


@pytest.mark.usefixtures("added")
def test_it_is_checked_priced_and_rehearsed_like_the_others() -> None:
    pool = {"role": "inference", "provisioner": "karpenter", "instanceTypes": [NAME], "max": 2}
    data = changed({"pools.arm": pool})
    found = load(data, stack=BASE["environment"]["name"], today=TODAY)
    spec = resolve_all(found.platform)["arm"]
    assert [one.value for one in found.warnings if "does not know" in one.rule] == [NAME]
    assert "kubernetes.io/arch=arm64:NoSchedule" in map(str, spec.taints)
    assert spec.instance_types[0].usd_per_hour == Decimal("0.828")
    assert machine.Machine(NAME).capacity(spec.labels)["nvidia.com/gpu"] == "1"
    assert NAME in {one["name"] for one in machine.types("us-east-1")}
    spot = {
        **pool,
        "capacity": {"market": "reserved", "reservation": {"kind": "capacity-block", "id": "cr-0123456789"}},
    }
    (problem,) = problems(changed({"pools.arm": spot}))
    assert problem.rule == f"EC2 must sell {NAME} as capacity-block"
