"""Installing CustomResourceDefinitions, stand-ins for missing ones, and those that previews use."""

import threading
import time
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sandbox.errors import SandboxError
from sandbox.kubernetes import waiting
from sandbox.kubernetes.client import ApiError, KubeClient, NoSuchKindError, ResourceType
from sandbox.kubernetes.inputs import imported
from sandbox.kubernetes.objects import Object, Ref, condition, without_conversion_webhook
from sandbox.kubernetes.waiting import until

API_VERSION = "apiextensions.k8s.io/v1"
KIND = "CustomResourceDefinition"
STAND_IN = "sandbox.slipway/stand-in"
APPROVAL = "api-approved.kubernetes.io"
"""Annotation without which the API server accepts no CRD in the groups of the Kubernetes community (KEP-1111)."""
MANAGER = "slipway-sandbox"
ESTABLISH_SECONDS = 120.0
"""How long nothing may happen while a CRD is awaited: neither to itself nor to what else the API server serves. A CRD
alone takes 0.1 s; the last of 60 that ten releases install at once, including KServe's large ones, takes 20 s (2 busy
cores, 2026-11), and more than 120 on a machine with ten times as much work as processors."""
LOOK_SECONDS = 2.0
"""Interval at which a CRD that is not served yet is read, to see how far it is. Reading it at every poll took a quarter
of the API server's time (pprof, KServe's CRDs, 2026-11)."""

_STAND_INS = threading.Lock()
"""Held while a stand-in is created or replaced: replacing one deletes it and recreates its objects."""


class RefusedByCrdError(SandboxError):
    """Objects that a stand-in accepted don't conform to the real CRD, which is installed as `live`."""

    def __init__(self, live: Object, refused: list[str]) -> None:
        self.live = live
        super().__init__(
            f"{Ref.of(live)} was installed after objects of its kind, and refuses these: {'; '.join(refused)}"
        )


def install(client: KubeClient, crd: Mapping[str, Any], manager: str, *, force: bool = True) -> Object:
    """Apply a CRD and wait until its kind is served. Raises ApiError, TimeoutError, RefusedByCrdError."""
    sent = without_conversion_webhook(crd)
    ref = Ref.of(sent)
    with _STAND_INS:
        head = client.metadata(ref)
        if head is None or not is_stand_in(head):
            return _apply(client, sent, manager, force=force)
        present = client.get(ref)
        objects = objects_of(client, present) if present is not None else []
        waiting.delete(client, ref)
        live = _apply(client, sent, manager, force=force)
        _recreate(client, live, objects)
        return live


def stand_in_for(obj: Mapping[str, Any]) -> Object:
    """The permissive CRD for an object's kind. Plural and scope are guessed, the scope by the object's namespace."""
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
    """Install a stand-in for an object's kind, unless the kind is served by now.

    Raises NoSuchKindError for a kind of Kubernetes itself, which another version of it serves.
    """
    ref = Ref.of(obj)
    with _STAND_INS:
        if not is_served(client, ref):
            if not ref.custom:
                raise NoSuchKindError(ref.api_version, ref.kind)
            _apply(client, _beside_others(client, stand_in_for(obj), ref), MANAGER, force=True)


def is_served(client: KubeClient, ref: Ref) -> bool:
    """Whether the API server serves an object's kind."""
    try:
        client.discovery.find(ref.api_version, ref.kind)
    except NoSuchKindError:
        return False
    return True


def is_namespaced(client: KubeClient, ref: Ref) -> bool:
    """Whether an object's kind is served, and namespaced."""
    return is_served(client, ref) and client.discovery.find(ref.api_version, ref.kind).namespaced


def is_stand_in(crd: Mapping[str, Any]) -> bool:
    """Whether the CRD is a stand-in."""
    return ((crd.get("metadata") or {}).get("labels") or {}).get(STAND_IN) == "true"


def served_by_stand_in(client: KubeClient, ref: Ref) -> bool:
    """Whether an object's kind is served by a stand-in."""
    resource = client.discovery.find(ref.api_version, ref.kind)
    crd = client.get(Ref(API_VERSION, KIND, f"{resource.plural}.{ref.group}")) if ref.group else None
    return crd is not None and is_stand_in(crd)


def stand_ins(client: KubeClient) -> set[str]:
    """Names of the stand-ins in a cluster."""
    resource = client.discovery.find(API_VERSION, KIND)
    return {str(crd["metadata"]["name"]) for crd in client.list(resource, selector=f"{STAND_IN}=true")}


def remove_unused_stand_ins(client: KubeClient) -> None:
    """Delete the stand-ins that have no objects."""
    with _STAND_INS:
        resource = client.discovery.find(API_VERSION, KIND)
        for crd in list(client.list(resource, selector=f"{STAND_IN}=true")):
            if not objects_of(client, crd):
                waiting.delete(client, Ref.of(crd))


def objects_of(client: KubeClient, crd: Object) -> list[Object]:
    """All objects of a CRD's kind; none if the kind is not served."""
    spec = crd["spec"]
    version = next(each["name"] for each in spec["versions"] if each["storage"])
    names, namespaced = spec["names"], spec["scope"] == "Namespaced"
    resource = ResourceType(f"{spec['group']}/{version}", names["kind"], names["plural"], namespaced, frozenset())
    try:
        return list(client.list(resource))
    except ApiError as error:
        if error.not_found:
            return []
        raise


def install_all(client: KubeClient, crds: Iterable[Mapping[str, Any]], manager: str) -> None:
    """Install missing CRDs, all at once, and wait for all of them. A stand-in counts as missing."""
    sent = []
    for crd in crds:
        present = client.metadata(Ref.of(crd))
        if present is None:
            servable = without_conversion_webhook(crd)
            client.apply_unread(servable, manager, force=True)
            sent.append(servable)
        elif is_stand_in(present):
            install(client, crd, manager)
    for servable in sent:
        wait_until_served(client, servable)


def _apply(client: KubeClient, crd: Object, manager: str, *, force: bool) -> Object:
    client.apply_unread(crd, manager, force=force)
    wait_until_served(client, crd)
    ref = Ref.of(crd)
    # Discovery may still list a CRD that was just removed.
    return until(lambda: _established(client, ref), ESTABLISH_SECONDS, f"{ref} is not established")


def wait_until_served(client: KubeClient, crd: Object) -> None:
    """Wait until discovery, which is fast to read, lists the kind: it lists established CRDs only."""
    ref, spec = Ref.of(crd), crd["spec"]
    kinds = [Ref(version, spec["names"]["kind"], "") for version in served_versions(crd)]
    client.discovery.forget(spec["group"])
    progress = _Progress(client, ref)

    def served() -> bool | None:
        return all(is_served(client, kind) for kind in kinds) or None

    until(served, ESTABLISH_SECONDS, lambda: f"{ref} is not served{progress}", sight=progress)


class _Progress:
    """What shows that the API server works on a CRD: its conditions, and the kinds that are served so far."""

    def __init__(self, client: KubeClient, ref: Ref) -> None:
        self._client = client
        self._ref = ref
        self._looked = time.monotonic()
        self._sight: object = None
        self._last = ""

    def __call__(self) -> object:
        """The sight of the last look. Raises SandboxError if the CRD will never be served."""
        if time.monotonic() - self._looked > LOOK_SECONDS:
            self._looked = time.monotonic()
            live = self._client.get(self._ref)
            if live is not None:
                _refuse_taken_names(self._ref, live)
            conditions = ((live or {}).get("status") or {}).get("conditions") or ()
            self._last = ", ".join(f"{each['type']} {each['status']} ({each.get('reason')})" for each in conditions)
            self._last = self._last or ("no condition" if live is not None else "it does not exist")
            self._sight = (self._last, served_groups(self._client))
        return self._sight

    def __str__(self) -> str:
        return f" (last seen: {self._last})" if self._last else ""


def served_groups(client: KubeClient) -> frozenset[str]:
    """The groups and versions that an API server serves; they change as long as it takes in new CRDs."""
    groups = client.get_path("/apis").get("groups") or ()
    return frozenset(str(each["groupVersion"]) for group in groups for each in group["versions"])


def _established(client: KubeClient, ref: Ref) -> Object | None:
    live = client.get(ref)
    if live is None:
        return None
    _refuse_taken_names(ref, live)
    return live if condition(live, "Established").get("status") == "True" else None


def _refuse_taken_names(ref: Ref, live: Object) -> None:
    names = condition(live, "NamesAccepted")
    if names.get("status") == "False":
        msg = f"{ref}: {names.get('message')}"
        raise SandboxError(msg)


def _recreate(client: KubeClient, crd: Object, objects: list[Object]) -> None:
    refused = []
    for obj in objects:
        try:
            client.apply(imported(obj), "pulumi-kubernetes", force=True)
        except (ApiError, NoSuchKindError) as error:
            refused.append(f"{Ref.of(obj)}: {error}")
    if refused:
        raise RefusedByCrdError(crd, refused)


def _beside_others(client: KubeClient, crd: Object, ref: Ref) -> Object:
    """The stand-in with the versions of an existing one. Raises NoSuchKindError if a real CRD lacks the version."""
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


# CRDs that previews use before a cluster serves them: those of available charts, and of the program itself.
#
# To validate a manifest of such a kind, its CRD is installed in the spare, which no cluster adopts afterwards. So a
# first preview finds a wrong field in a ClusterQueue before Kueue is installed anywhere. Installing CRDs is in `crds`.


class PreviewCrds:
    """The known CRDs, by group and kind; a later one replaces an earlier one."""

    def __init__(self) -> None:
        self._offered: dict[tuple[str, str], Object] = {}
        self._installed: dict[tuple[str, str], Object] = {}
        """The CRD that was installed last, by server and name."""
        self._lock = threading.Lock()

    def offer(self, offered: Iterable[Object]) -> None:
        """Let previews use these CRDs."""
        with self._lock:
            for crd in offered:
                self._offered[crd["spec"]["group"], crd["spec"]["names"]["kind"]] = crd

    def offers(self, ref: Ref) -> bool:
        """Whether the CRD of an object's kind and version is known."""
        return self._find(ref) is not None

    def install_for(self, spare: KubeClient, ref: Ref) -> bool:
        """Install the CRD of an object's kind in the spare, unless it is there; False if the CRD is not known."""
        crd = self._find(ref)
        if crd is None:
            return False
        place = (spare.server, str(crd["metadata"]["name"]))
        if self._installed.get(place) == crd and is_served(spare, ref):
            return True
        self._installed[place] = crd
        install(spare, crd, MANAGER)
        return True

    def used(self, server: str) -> bool:
        """Whether a CRD was installed in the API server at a URL."""
        return any(at == server for at, _ in tuple(self._installed))

    def forget(self, servers: Collection[str]) -> None:
        """Forget the installations on all servers but these: another server may get their port."""
        for place in [place for place in tuple(self._installed) if place[0] not in servers]:
            self._installed.pop(place, None)

    def _find(self, ref: Ref) -> Object | None:
        with self._lock:
            crd = self._offered.get((ref.group, ref.kind))
        return crd if crd is not None and ref.api_version in served_versions(crd) else None


def served_versions(crd: Object) -> tuple[str, ...]:
    """The apiVersions that a CRD serves."""
    return tuple(f"{crd['spec']['group']}/{each['name']}" for each in crd["spec"]["versions"] if each.get("served"))
