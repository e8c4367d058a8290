"""Where an import reads from: a cluster, by its API, which it only reads; or files that others wrote of one."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from policies.manifests import SUFFIXES
from sandbox.kubernetes.client import JSON, METADATA_LIST, ApiError, KubeClient, ResourceType
from sandbox.kubernetes.objects import Object
from slipway.imported.keep import HELM, ROWS
from spec import strict_yaml
from spec.errors import refuse

MOST: Final = 512_000_000
"""Maximum characters of a file in JSON: 20,000 pods as the API server returns them have 200 MB (2026-11)."""
DEFINITIONS: Final = ("apiextensions.k8s.io", "CustomResourceDefinition")
SECRETS: Final = ("", "Secret")


def of_cluster(client: KubeClient, unread: dict[str, str]) -> Iterator[Object]:
    """The objects of a cluster that may be kept, and of others those that have a definition, without their contents.

    Args:
        unread: Gets what can't be read, with the reason, by kind.

    Raises:
        ApiError: The API server does not say what it serves.
        UnreachableError: It does not answer.
    """
    served = sorted(client.discovery.everything(), key=lambda one: _key(one) != DEFINITIONS)
    defined: set[str] = set()
    for resource in served:
        group, kind = _key(resource)
        whole = (group, kind) in ROWS
        headless = (group, kind) in (DEFINITIONS, SECRETS) or f"{resource.plural}.{group}" in defined
        if not whole and not headless:
            continue
        selector = f"{HELM['label']}={HELM['value']}" if (group, kind) == SECRETS else ""
        try:
            for one in client.list(resource, selector=selector, accept=JSON if whole else METADATA_LIST):
                if (group, kind) == DEFINITIONS:
                    defined.add(str(one["metadata"]["name"]))
                yield {**one, "apiVersion": resource.api_version, "kind": kind}
        except ApiError as error:
            unread[f"{kind}.{group}".rstrip(".")] = error.message


def _key(resource: ResourceType) -> tuple[str, str]:
    group, slash, _ = resource.api_version.partition("/")
    return (group if slash else "", resource.kind)


def of_files(places: list[Path]) -> Iterator[tuple[str, Any]]:
    """The values in files, or in all files of folders, each with its place; those of lists one by one.

    Raises:
        SlipwayError: There is none of a name, it is no text, too large, or neither JSON nor YAML; exit code 2.
    """
    for place in places:
        if not place.exists() and str(place) != "-":
            refuse(
                f"{place}: name a file or folder that `kubectl get -o json` or `cluster-info dump` wrote (given: none)"
            )
        files = [one for one in sorted(place.rglob("*")) if one.suffix in SUFFIXES] if place.is_dir() else [place]
        if not files:
            refuse(f"{place}: a folder has files that end in {', '.join(SUFFIXES)} (given: none). Name another one.")
        for path in files:
            if place.is_dir() and not path.resolve().is_relative_to(place.resolve()):
                refuse(f"{path}: a file must be in the folder (given: a link out of it). Remove the link.")
            for number, one in enumerate(_values(path)):
                yield from _flat(one, f"{path}: object {number + 1}")


def _values(path: Path) -> Iterator[Any]:
    text = strict_yaml.text_of(path, MOST)
    try:
        if text.lstrip()[:1] in ("{", "["):
            yield from _json(text)
        else:
            # One document after the other: that of a list is bounded, all documents together are not.
            for part in re.split(r"^---(?=\s)", text, flags=re.MULTILINE):
                yield from (one for one in strict_yaml.documents(path, part) if one is not None)
    except (ValueError, RecursionError) as error:
        where = f"line {text.count(chr(10), 0, error.pos) + 1}: " if isinstance(error, json.JSONDecodeError) else ""
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        refuse(f"{path}: {where}not valid JSON: {why}. Was it cut? Write it again with `kubectl get -o json`.", error)


_BETWEEN: Final = re.compile(r"\s*(?:==== START logs .*?==== END logs [^\n]*\s*)*", re.DOTALL)
"""What is between documents: `kubectl cluster-info dump` prints logs there."""
_WORD: Final = r'"\w+"\s*:\s*(?:"[^"\\]*"|\{[^{}]*\})'
_HEAD: Final = re.compile(rf'\{{\s*((?:{_WORD}\s*,\s*)*)"items"\s*:\s*\[')
_OPEN: Final = "a list goes on, or ends"
_LIST: Final = "a list has kind, apiVersion, metadata and items alone"
_TAIL: Final = re.compile(rf"\s*((?:,\s*{_WORD}\s*)*)\}}")


def _json(text: str) -> Iterator[Any]:
    """The documents of JSON; of a list one item at a time, because a whole one takes ten times its size."""
    decoder, at = json.JSONDecoder(), 0
    while (at := _end(_BETWEEN, text, at)) < len(text):
        head = _HEAD.match(text, at)
        if head is None:
            one, at = decoder.raw_decode(text, at)
            yield one
            continue
        of_list, at = json.loads("{" + head[1].rstrip().rstrip(",") + "}"), _end(_SPACE, text, head.end())
        while text[at : at + 1] != "]":
            one, at = decoder.raw_decode(text, at)
            yield from _typed(of_list, [one])
            at = _end(_SPACE, text, at)
            if text[at : at + 1] == ",":
                at = _end(_SPACE, text, at + 1)
            elif text[at : at + 1] != "]":
                raise json.JSONDecodeError(_OPEN, text, min(at, len(text)))
        tail = _TAIL.match(text, at + 1)
        if tail is None:
            raise json.JSONDecodeError(_LIST, text, at)
        at = tail.end()


_SPACE: Final = re.compile(r"\s*")


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _typed(of_list: Mapping[str, Any], items: list[Any]) -> Iterator[Any]:
    """Items of a typed list, such as those of `cluster-info dump`, whose kind is that of their list."""
    kind = str(of_list.get("kind") or "").removesuffix("List")
    for one in items:
        untyped = kind and isinstance(one, Mapping) and "kind" not in one
        yield {"apiVersion": of_list.get("apiVersion"), "kind": kind, **one} if untyped else one


def _flat(value: Any, place: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """A value, or the items of a list, and of a list in it."""
    whole = isinstance(value, Mapping) and str(value.get("kind") or "").endswith("List")
    items = value if isinstance(value, list) else value.get("items") if whole else None
    if not isinstance(items, list) or depth == strict_yaml.MAX_DEPTH:
        yield place, value
        return
    for one in items if isinstance(value, list) else _typed(value, items):
        yield from _flat(one, place, depth + 1)
