"""Instance types that a user adds: a file of their own in `data/`, which EC2's description of a type fills.

`python tools/refresh_catalog.py --describe FILE` prints its rows from what `aws ec2 describe-instance-types` answers. A
row has its source and date. It may have `usd_per_hour`, the price in us-east-1 as text: without it the type has that of
`on-demand.json`, or is named as unpriced. And `zone_ids`, the IDs of the zones that offer it by region: without them a
warning says that nothing is known.
"""

import re
from collections.abc import Collection, Mapping
from datetime import date
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

from spec.catalog import gpus
from spec.catalog.document import FOLDER, load
from spec.errors import refuse

FILE: Final = "own-types.yaml"
Rows = Mapping[str, Mapping[str, Any]]
_REQUIRED: Final[Mapping[str, type]] = MappingProxyType(
    {
        "source": str, "date": date, "vcpus": int, "memory_mib": int, "arch": str, "nvme_gb": int, "network_cards": int,
        "network_mbps": int, "enis": int, "primary_card_enis": int, "ipv4_per_eni": int, "efa_interfaces": int,
        "markets": list,
    }
)  # fmt: skip
_OPTIONAL: Final[Mapping[str, type]] = MappingProxyType(
    {
        "gpus": int, "gpu_name": str, "gpu_memory_mib": int, "gpu_part": float, "neuron_devices": int,
        "cards_without_efa": list, "usd_per_hour": str, "zone_ids": dict,
    }
)  # fmt: skip
_VALUES: Final[Mapping[str, Collection[str]]] = MappingProxyType(
    {"arch": ("x86_64", "arm64"), "markets": ("on-demand", "spot", "capacity-block"), "gpu_name": gpus.GPUS}
)
_TYPE: Final = re.compile(r"[a-z]+[0-9][a-z0-9-]*\.[a-z0-9-]+")
_PRICE: Final = re.compile(r"[0-9]+(\.[0-9]+)?")


def given(known: Collection[str]) -> Rows:
    """The rows of the user's file, in the form of `ec2-types.json`; none without a file.

    Raises:
        SlipwayError: A row has a mistake.
    """
    there = (files("spec.catalog") / "data" / FILE).is_file()
    # The shell that writes the file has emptied it before the command begins.
    return checked((load(FILE) or {}).get("types") or {}, known) if there else {}


def checked(rows: Rows, known: Collection[str]) -> Rows:
    """The same rows. Raises SlipwayError for a mistake: path, rule, value and fix."""
    kinds = {**_REQUIRED, **_OPTIONAL}
    for name, row in rows.items():
        if not _TYPE.fullmatch(name):
            _wrong(name, "a type has a family and a size", name, "Write it like p5.48xlarge.")
        if name in known:
            _wrong(name, "the catalog has this type", name, "Remove it here.")
        for key in sorted({*_REQUIRED, *row}):
            value, path = row.get(key), f"{name}.{key}"
            if key not in kinds:
                _wrong(path, "no such fact is read", value, f"Use {', '.join(kinds)}.")
            if not isinstance(value, kinds[key]):
                _wrong(path, f"must be of the type {kinds[key].__name__}", value, "Take it from EC2's description.")
            for one in value if isinstance(value, list) else [value]:
                if key in _VALUES and one not in _VALUES[key]:
                    _wrong(path, "is not known", one, f"Use one of {', '.join(_VALUES[key])}.")
        if not _PRICE.fullmatch(row.get("usd_per_hour", "0")):
            _wrong(f"{name}.usd_per_hour", "must be an amount", row["usd_per_hour"], 'Write it like "1.25".')
        if bool(row.get("gpus")) != ("gpu_name" in row):
            _wrong(f"{name}.gpu_name", "GPUs have a model", row.get("gpu_name"), "Name a key of gpus.yaml.")
    return rows


def _wrong(path: str, rule: str, value: object, fix: str) -> None:
    refuse(f"{FOLDER}/{FILE}, types.{path}: {rule} (given: {value!r}). {fix}")
