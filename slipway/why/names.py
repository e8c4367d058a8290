"""Objects by the names that kubectl takes: `job/train`, `jobs.batch/train`, `deploy/x`, or a name alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.discovery import AGGREGATED
from slipway.sandbox.kubernetes.errors import ApiError, NoSuchKindError
from slipway.sandbox.kubernetes.objects import Object, Ref
from spec.errors import SlipwayError

GUESSED: Final = ("pod", "job", "workload", "trainjob", "jobset", "deployment", "statefulset", "cronjob")
"""Kinds that are tried, in this order, for a name without a kind."""


@dataclass(frozen=True)
class Served:
    """A kind, and the names that kubectl takes for it."""

    api_version: str
    kind: str
    group: str
    names: frozenset[str]


def served(client: KubeClient) -> list[Served]:
    """Every kind that the API server serves, in its order of preference."""
    found = []
    for path in ("/api", "/apis"):
        for group in client.get_path(path, headers={"Accept": AGGREGATED}).get("items") or ():
            found += list(_of_group(group))
    return found


def _of_group(group: dict[str, Any]) -> Iterator[Served]:
    name = str((group.get("metadata") or {}).get("name") or "")
    for version in group.get("versions") or ():
        api_version = f"{name}/{version['version']}" if name else str(version["version"])
        for each in version.get("resources") or ():
            kind = str((each.get("responseKind") or {}).get("kind") or "")
            names = {each["resource"], each.get("singularResource"), kind.lower(), *(each.get("shortNames") or ())}
            yield Served(api_version, kind, name, frozenset(one for one in names if one))


def find(client: KubeClient, text: str, namespace: str) -> Object:
    """The object that a user names.

    Raises:
        SlipwayError: There is no such kind or object, or it may not be read.
    """
    word, slash, name = text.partition("/")
    kinds = served(client)
    if slash and (not word or not name or "/" in name):
        msg = f"{text}: write kind/name, as kubectl does: job/train"
        raise SlipwayError(msg)
    words = (word,) if slash else GUESSED
    denied = ""
    for each in words:
        kind = _kind(kinds, each)
        if kind is None:
            continue
        try:
            found = client.get(Ref(kind.api_version, kind.kind, name if slash else word, namespace))
        except ApiError as error:
            denied = error.message
            continue
        except NoSuchKindError:
            continue
        if found is not None:
            return found
    if denied:
        raise SlipwayError(denied)
    if slash and _kind(kinds, word) is None:
        msg = f"the cluster serves no kind {word}: `kubectl api-resources` lists them"
        raise SlipwayError(msg)
    what = f"no {word} {name}" if slash else f"no pod, job or workload {word}, and there is no such file"
    msg = f"namespace {namespace} has {what}: name the namespace with -n, and the object as kind/name"
    raise SlipwayError(msg)


def _kind(kinds: list[Served], word: str) -> Served | None:
    name, _, group = word.lower().partition(".")
    for one in kinds:
        if name in one.names and (not group or one.group == group or one.group.startswith(f"{group}.")):
            return one
    return None
