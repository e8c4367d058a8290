"""CustomResourceDefinitions: installing them, and standing in for those that are missing.

A chart that is not at hand brings no CRDs, and the custom resources of the program still have to exist. A *stand-in*
accepts any content under the kind's name. It is labelled, reported, and gives way to the real definition when that
comes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from slipway.errors import SandboxError
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.drift import imported
from slipway.sandbox.kubernetes.errors import ApiError, NoSuchKindError
from slipway.sandbox.kubernetes.objects import Object, Ref, condition
from slipway.sandbox.kubernetes.removal import objects_of, remove
from slipway.sandbox.kubernetes.waiting import until

API_VERSION = "apiextensions.k8s.io/v1"
KIND = "CustomResourceDefinition"
STAND_IN = "sandbox.slipway/stand-in"
APPROVAL = "api-approved.kubernetes.io"
"""Without it the API server takes no CRD in the community's own groups (KEP-1111)."""
MANAGER = "slipway-sandbox"
ESTABLISH_SECONDS = 120.0
"""0.1 s alone; 20 s for the last of 60 that ten releases install at once, KServe's large ones among them (2 cores with
other work, 2026-11)."""
LOOK_SECONDS = 2.0
"""How often a CRD that is not served yet is read, to see whether its names are taken. Reading it at every poll took a
quarter of the API server's time (pprof, KServe's CRDs, 2026-11)."""

_STAND_INS = threading.Lock()
"""One at a time: to replace a stand-in means to delete it and put its objects back."""


class RefusedByDefinitionError(SandboxError):
    """Objects that a stand-in had accepted do not conform to the real definition, which is installed as `live`."""

    def __init__(self, live: Object, refused: list[str]) -> None:
        self.live = live
        super().__init__(f"{Ref.of(live)} came after objects of its kind, and refuses these: {'; '.join(refused)}")


def install(client: KubeClient, crd: Mapping[str, Any], manager: str, *, force: bool = True) -> Object:
    """Apply a CRD and wait until its kind is served. Raises ApiError, TimeoutError, RefusedByDefinitionError."""
    definition = without_conversion_webhook(crd)
    ref = Ref.of(definition)
    with _STAND_INS:
        head = client.metadata(ref)
        if head is None or not is_stand_in(head):
            return _apply(client, definition, manager, force=force)
        present = client.get(ref)
        objects = objects_of(client, present) if present is not None else []
        remove(client, ref)
        live = _apply(client, definition, manager, force=force)
        _put_back(client, live, objects)
        return live


def without_conversion_webhook(crd: Mapping[str, Any]) -> Object:
    """The CRD as the sandbox can serve it: no pod runs here that could convert between versions, so none is asked."""
    spec = {key: value for key, value in crd["spec"].items() if key != "conversion"}
    return {**{key: value for key, value in crd.items() if key != "status"}, "spec": spec}


def without_descriptions(crd: Mapping[str, Any]) -> Object:
    """A chart's CRD without the texts of its fields, which `kubectl explain` shows and nothing else reads.

    They are two thirds of what the API server, etcd and we would have to read and keep of each.
    """
    versions = [
        {**each, "schema": {"openAPIV3Schema": _undescribed((each.get("schema") or {}).get("openAPIV3Schema") or {})}}
        if each.get("schema")
        else each
        for each in crd["spec"].get("versions") or ()
    ]
    return {**crd, "spec": {**crd["spec"], "versions": versions}}


def _undescribed(schema: Any) -> Any:
    """Below `properties` stand names, of which one may be `description`; anywhere else it is a text."""
    if not isinstance(schema, Mapping):
        return schema
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            found[key] = {name: _undescribed(each) for name, each in value.items()}
        elif key in ("items", "additionalProperties", "not"):
            found[key] = _undescribed(value)
        elif key in ("allOf", "anyOf", "oneOf"):
            found[key] = [_undescribed(each) for each in value]
        elif key != "description":
            found[key] = value
    return found


def stand_in_for(obj: Mapping[str, Any]) -> Object:
    """The permissive CRD for a kind. Plural and scope are guessed: an object with a namespace is namespaced."""
    ref = Ref.of(obj)
    version = ref.api_version.partition("/")[2]
    plural = _plural(ref.kind.lower())
    protected = ref.group.endswith((".k8s.io", ".kubernetes.io"))
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {
            "name": f"{plural}.{ref.group}",
            "labels": {STAND_IN: "true"},
            "annotations": {APPROVAL: "unapproved, a stand-in of the sandbox"} if protected else {},
        },
        "spec": {
            "group": ref.group,
            "scope": "Namespaced" if ref.namespace else "Cluster",
            "names": {"plural": plural, "singular": ref.kind.lower(), "kind": ref.kind, "listKind": f"{ref.kind}List"},
            "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }


def ensure_stand_in(client: KubeClient, obj: Mapping[str, Any]) -> None:
    """Make the API server serve an object's kind, permissively, unless it came to be served meanwhile."""
    ref = Ref.of(obj)
    with _STAND_INS:
        try:
            client.discovery.find(ref.api_version, ref.kind)
        except NoSuchKindError:
            _apply(client, _beside_others(client, stand_in_for(obj), ref), MANAGER, force=True)


def is_served(client: KubeClient, ref: Ref) -> bool:
    """Whether the API server serves an object's kind."""
    try:
        client.discovery.find(ref.api_version, ref.kind)
    except NoSuchKindError:
        return False
    return True


def is_stand_in(crd: Mapping[str, Any]) -> bool:
    """Whether the CRD is one of ours."""
    return ((crd.get("metadata") or {}).get("labels") or {}).get(STAND_IN) == "true"


def served_by_stand_in(client: KubeClient, ref: Ref) -> bool:
    """Whether an object's kind is served by a stand-in."""
    resource = client.discovery.find(ref.api_version, ref.kind)
    crd = client.get(Ref(API_VERSION, KIND, f"{resource.plural}.{ref.group}")) if ref.group else None
    return crd is not None and is_stand_in(crd)


def remove_unused_stand_ins(client: KubeClient) -> None:
    """Delete the stand-ins that have no objects any more."""
    with _STAND_INS:
        resource = client.discovery.find(API_VERSION, KIND)
        for crd in list(client.list(resource, selector=f"{STAND_IN}=true")):
            if not objects_of(client, crd):
                remove(client, Ref.of(crd))


def send(client: KubeClient, definitions: Iterable[Mapping[str, Any]], manager: str) -> frozenset[str]:
    """Apply CRDs without waiting until they are served; the names of those that were taken.

    Left to `install` are those with a stand-in, which has to give way first, and those that are refused.
    """
    taken = set()
    for crd in definitions:
        ref = Ref.of(crd)
        present = client.metadata(ref)
        if present is not None and is_stand_in(present):
            continue
        with suppress(ApiError):
            client.apply_unread(without_conversion_webhook(crd), manager, force=True)
            taken.add(ref.name)
    return frozenset(taken)


def install_all(client: KubeClient, definitions: Iterable[Mapping[str, Any]], manager: str) -> None:
    """Install those that are missing, all at once, and wait for all of them. A stand-in counts as missing."""
    sent = []
    for crd in definitions:
        present = client.metadata(Ref.of(crd))
        if present is None:
            definition = without_conversion_webhook(crd)
            client.apply_unread(definition, manager, force=True)
            sent.append(definition)
        elif is_stand_in(present):
            install(client, crd, manager)
    for definition in sent:
        wait_until_served(client, definition)


def _apply(client: KubeClient, crd: Object, manager: str, *, force: bool) -> Object:
    client.apply_unread(crd, manager, force=force)
    wait_until_served(client, crd)
    ref = Ref.of(crd)
    # Discovery may still tell of one that was removed a moment ago.
    return until(lambda: _established(client, ref), ESTABLISH_SECONDS, f"{ref} is not established")


def wait_until_served(client: KubeClient, crd: Object) -> None:
    """Wait for discovery, which costs little to ask, and tells of established CRDs only."""
    ref, spec = Ref.of(crd), crd["spec"]
    versions = [f"{spec['group']}/{each['name']}" for each in spec["versions"] if each["served"]]
    client.discovery.forget(spec["group"])
    looked = time.monotonic()

    def served() -> bool | None:
        nonlocal looked
        if _served(client, versions, spec["names"]["kind"]):
            return True
        if time.monotonic() - looked > LOOK_SECONDS:
            _established(client, ref)
            looked = time.monotonic()
        return None

    until(served, ESTABLISH_SECONDS, f"{ref} is not served")


def _established(client: KubeClient, ref: Ref) -> Object | None:
    live = client.get(ref)
    if live is None:
        return None
    names = condition(live, "NamesAccepted")
    if names.get("status") == "False":
        msg = f"{ref}: {names.get('message')}"
        raise SandboxError(msg)
    return live if condition(live, "Established").get("status") == "True" else None


def _served(client: KubeClient, versions: list[str], kind: str) -> bool | None:
    try:
        for version in versions:
            client.discovery.find(version, kind)
    except NoSuchKindError:
        return None
    return True


def _put_back(client: KubeClient, crd: Object, objects: list[Object]) -> None:
    refused = []
    for obj in objects:
        try:
            client.apply(imported(obj), "pulumi-kubernetes", force=True)
        except (ApiError, NoSuchKindError) as error:
            refused.append(f"{Ref.of(obj)}: {error}")
    if refused:
        raise RefusedByDefinitionError(crd, refused)


def _beside_others(client: KubeClient, crd: Object, ref: Ref) -> Object:
    """A stand-in that is there for another version gets this one beside it; a real CRD decides what is served."""
    present = client.get(Ref.of(crd))
    if present is None:
        return crd
    if not is_stand_in(present):
        raise NoSuchKindError(ref.api_version, ref.kind)
    (wanted,) = crd["spec"]["versions"]
    kept = [each for each in present["spec"]["versions"] if each["name"] != wanted["name"]]
    versions = [*kept, {**wanted, "storage": not any(each["storage"] for each in kept)}]
    return {**crd, "spec": {**crd["spec"], "scope": present["spec"]["scope"], "versions": versions}}


def _plural(singular: str) -> str:
    if singular.endswith(("s", "x", "ch", "sh")):
        return f"{singular}es"
    if singular.endswith("y") and singular[-2:-1] not in "aeiou":
        return f"{singular[:-1]}ies"
    return f"{singular}s"
