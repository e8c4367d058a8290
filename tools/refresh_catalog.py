"""Regenerates the files of `spec/catalog/data` that come from installed packages.

    python tools/refresh_catalog.py          # write them
    python tools/refresh_catalog.py --check  # only compare them with the packages; exit code 1 if they differ
    python tools/refresh_catalog.py --describe FILE  # print rows of own-types.yaml

moto contains EC2's answers to DescribeInstanceTypes and DescribeInstanceTypeOfferings in each region, and botocore the
regions of each partition. Instance types are those in Karpenter's price list (`karpenter.json`), and `EXTRA`.
"""

import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import botocore.loaders
import botocore.session
import yaml
from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend
from moto.iam.aws_managed_policies import aws_managed_policies_data

from sandbox.nodes import ec2_types
from spec import clock
from spec.catalog import document

DATA: Final = Path(__file__).resolve().parents[1] / "spec" / "catalog" / "data"
EXTRA: Final = ("p5e.48xlarge", "trn2.3xlarge", "trn2.48xlarge")
"""Further types, which are missing in the price list because they aren't sold on-demand in us-east-1."""


def main(arguments: list[str]) -> int:
    """Write the files, or compare them; return the exit code."""
    if "--describe" in arguments:
        print(own_types(Path(arguments[-1])))
        return 0
    generated = {"ec2-types.json": instance_types(), "regions.json": regions()}
    stale = [
        name for name, text in generated.items() if not (DATA / name).exists() or (DATA / name).read_text() != text
    ]
    if "--check" in arguments:
        print(f"stale: {', '.join(stale)}; run python tools/refresh_catalog.py" if stale else "the catalog is current")
        return 1 if stale else 0
    for name in stale:
        (DATA / name).write_text(generated[name])
    print(f"written: {', '.join(stale) or 'nothing, all files were current'}")
    return 0


def instance_types() -> str:
    """Text of `ec2-types.json`: the properties of each type, and where it is offered."""
    names = sorted({*document.load("karpenter.json")["types"], *EXTRA})
    every = ec2_types.described()
    places = _offerings(names)
    alike: dict[str, list[str]] = defaultdict(list)
    for name in names:
        alike[json.dumps(places[name], sort_keys=True)].append(name)
    return _text(
        _head("EC2 DescribeInstanceTypes and DescribeInstanceTypeOfferings (by zone ID)"),
        {
            "types": {name: _shape(every[name]) for name in names},
            "offerings": {types[0]: {"types": types, "zone_ids": json.loads(where)} for where, types in alike.items()},
            "regions": sorted(_offered_regions()),
        },
    )


def own_types(answer: Path) -> str:
    """Rows of `spec.catalog.own_types` from an answer of `aws ec2 describe-instance-types`."""
    of_all = {"source": "aws ec2 describe-instance-types", "date": clock.today()}
    described = json.loads(answer.read_text(encoding="utf-8"))["InstanceTypes"]
    rows = {entry["InstanceType"]: {**of_all, **ec2_types.shape(entry)} for entry in described}
    return yaml.safe_dump({"types": rows}, sort_keys=False)


def regions() -> str:
    """Text of `regions.json`: regions by partition, with the names of known zones."""
    endpoints = botocore.session.get_session().get_component("data_loader").load_data("endpoints")
    return _text(
        _head(f"partitions of botocore {version('botocore')}; zones of moto's accounts"),
        {"partitions": {entry["partition"]: _partition(entry) for entry in endpoints["partitions"]}},
    )


def _partition(entry: Mapping[str, Any]) -> dict[str, Any]:
    session = botocore.session.get_session()
    names = session.get_available_regions("eks", partition_name=entry["partition"])
    return {"dns_suffix": entry["dnsSuffix"], "regions": {name: _zones(name) for name in sorted(names)}}


def _zones(region: str) -> list[str]:
    """Zone names from two sources: moto's table, and the account in which the offerings were recorded."""
    table: Mapping[str, Iterable[Any]] = RegionsAndZonesBackend.zones
    named = {zone.name for zone in table.get(region, ())} if region in _offered_regions() else set()
    recorded = _moto(f"instance_type_offerings/availability-zone/{region}.json.gz") if named else []
    return sorted(named.union(offer["Location"] for offer in recorded))


def _shape(entry: Mapping[str, Any]) -> dict[str, Any]:
    shape = ec2_types.shape(entry)
    if shape.get("gpus") and not shape["gpu_name"]:
        msg = f"{entry['InstanceType']}: the catalog has no GPU as in {entry['GpuInfo']}: add it to data/gpus.yaml"
        raise ValueError(msg)
    return shape


def _offerings(names: list[str]) -> dict[str, dict[str, list[str]]]:
    """Zone IDs by type and region."""
    places: dict[str, dict[str, list[str]]] = {name: defaultdict(list) for name in names}
    for region in sorted(_offered_regions()):
        for offer in _moto(f"instance_type_offerings/availability-zone-id/{region}.json.gz"):
            if offer["InstanceType"] in places:
                places[offer["InstanceType"]][region].append(offer["Location"])
    return {name: {region: sorted(ids) for region, ids in where.items()} for name, where in places.items()}


def _offered_regions() -> set[str]:
    """Regions whose offerings moto has."""
    folder = files("moto.ec2") / "resources" / "instance_type_offerings" / "region"
    return {entry.name.removesuffix(".json.gz") for entry in folder.iterdir() if entry.name.endswith(".json.gz")}


def _moto(name: str) -> Any:
    return json.loads(gzip.decompress((files("moto.ec2") / "resources" / name).read_bytes()))


def _head(what: str) -> dict[str, str]:
    """Source and date of the facts: the package has no date, so it is that of its newest record."""
    newest: str = max(policy["UpdateDate"] for policy in json.loads(aws_managed_policies_data).values())
    return {"source": f"moto {version('moto')}: {what}", "date": newest[:10]}


def _text(head: Mapping[str, str], body: Mapping[str, Any]) -> str:
    """JSON with one line per entry of the second level, for readable diffs."""
    parts = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    for key, section in body.items():
        if isinstance(section, dict):
            rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in section.items())
            parts.append(f" {json.dumps(key)}: {{\n{rows}\n }}")
        else:
            parts.append(f" {json.dumps(key)}: {json.dumps(section)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
