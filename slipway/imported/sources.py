"""Where an import reads from: a cluster, by its API, which it only reads; or files that others wrote of one."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from policies import manifests
from sandbox.kubernetes.client import JSON, METADATA_LIST, ApiError, KubeClient
from slipway.imported.keep import HELM, ROWS, Names, name_of, reduced
from spec import strict_yaml
from spec.errors import refuse

MOST: Final = 512_000_000
"""Maximum characters of a file in JSON: 20,000 pods, as kubectl writes them, have 350 million (2026-11)."""
DEFINITION: Final = "CustomResourceDefinition"
SECRET: Final = "Secret"  # noqa: S105 - a kind
Located = tuple[str, Any]
"""An object, or what is none, after its place."""


def of_cluster(client: KubeClient, unread: dict[str, str]) -> Iterator[Located]:
    """The objects of a cluster that may be kept, and of others those that have a definition, without their contents.

    `unread` gets what can't be read, with the reason, by kind. Raises ApiError if the API server does not say what it
    serves, UnreachableError if it does not answer.
    """
    defined: set[str] = set()
    for one in sorted(client.discovery.everything(), key=lambda each: each.kind != DEFINITION):
        group = one.api_version.rpartition("/")[0]
        whole = (name := f"{one.kind}.{group}".rstrip(".")) in ROWS
        if not whole and one.kind not in (DEFINITION, SECRET) and f"{one.plural}.{group}" not in defined:
            continue
        selector = f"{HELM['label']}={HELM['value']}" if one.kind == SECRET else ""
        try:
            for found in client.list(one, selector=selector, accept=JSON if whole else METADATA_LIST):
                if one.kind == DEFINITION:
                    defined.add(found["metadata"]["name"])
                yield "the cluster", {**found, "apiVersion": one.api_version, "kind": one.kind}
        except ApiError as error:
            unread[name] = error.message


def of_files(places: Sequence[Path]) -> Iterator[Located]:
    """The objects in files, or in all files of folders, those of lists one by one."""
    for place in places:
        if not (found := manifests.files(place)):
            refuse(f"{place}: files of YAML or JSON must be in it ({', '.join(manifests.SUFFIXES)}). Unpack archives.")
        for path in found:
            for number, one in enumerate(_values(path), 1):
                yield from _flat(one, f"{path}: value {number}")


_BETWEEN: Final = re.compile(r"\s*(?:==== START logs .*?==== END logs [^\n]*\s*)*", re.DOTALL)
"""What is between documents: `kubectl cluster-info dump` prints logs there."""


def _values(path: Path) -> Iterator[Any]:
    text, at = strict_yaml.text_of(path, MOST), 0
    if text.lstrip()[:1] not in ("{", "["):
        # One document after the other: each is bounded, all of them together are not.
        for part in re.split(r"^---(?=\s)", text, flags=re.MULTILINE):
            yield from (one for one in strict_yaml.documents(path, part) if one is not None)
        return
    decoder = json.JSONDecoder(object_hook=_small)
    try:
        while (found := _BETWEEN.match(text, at)) and (at := found.end()) < len(text):
            one, at = decoder.raw_decode(text, at)
            yield one
    except (ValueError, RecursionError) as error:
        refuse(f"{path}: not valid JSON: {error}. Was it cut? Write it again with `kubectl get -o json`.", error)


def _small(value: dict[str, Any]) -> dict[str, Any]:
    """A value, and of an object what may be kept: all of 20,000 pods takes ten times the memory of their text."""
    row = ROWS.get(name_of(value)) if "metadata" in value else None
    return reduced(value, row, Names()) if row else value


def _flat(value: Any, place: str, depth: int = 0) -> Iterator[Located]:
    """A value, or the items of a list, and of a list in it; those of a typed list have its kind."""
    kind = str(value.get("kind") or "") if isinstance(value, Mapping) else "List"
    # Go writes an empty list as null.
    items = (value["items"] or []) if isinstance(value, Mapping) and "items" in value else value
    if not kind.endswith("List") or not isinstance(items, list) or depth == strict_yaml.MAX_DEPTH:
        yield place, value
        return
    own = {"apiVersion": value["apiVersion"], "kind": kind[:-4]} if kind != "List" and "apiVersion" in value else {}
    for one in items:
        yield from _flat({**own, **one} if isinstance(one, Mapping) else one, place, depth + 1)
