"""A small client of the Kubernetes API: the kinds that it serves, the few calls that are needed, and error answers."""

import base64
import os
import re
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

import urllib3

from sandbox.cluster.patience import REQUEST_SECONDS, Patience
from sandbox.errors import BUSY, GOES_ON, SandboxError, cancelled
from sandbox.kubernetes.objects import DEFAULT_NAMESPACE, Object, Ref

T = TypeVar("T")

# Error answers of an API server.

_OVERLOADED: Final = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT)
_UNCOUNTED: Final = "status unknown for quota"
_ACCOUNT: Final = re.compile(r"error looking up service account (\S+/\S+): .*not found")
"""Message of kubernetes 1.36, plugin/pkg/admission/serviceaccount/admission.go."""


class ApiError(Exception):
    """A `Status` of the API server: its HTTP code, reason (`Invalid`, `Conflict`, ...), message and details.

    `busy` says whether it, its store or a webhook came too late, `pause` how many seconds to wait before a repetition.
    """

    def __init__(self, status: int, body: Mapping[str, Any], pause: float = 0.0) -> None:
        self.status = status
        self.reason = str(body.get("reason") or "")
        self.details: Mapping[str, Any] = body.get("details") or {}
        super().__init__(str(body.get("message") or body))
        # A Service without a pod answers 503 for as long as it has none. The first count of a new CRD's objects takes
        # the quota controller 30 s and one round (kubernetes 1.36, pkg/controller/resourcequota).
        late = status in _OVERLOADED or (status // 100 == 5 and BUSY.search(self.message)) or _UNCOUNTED in self.message
        late = late and not self.of_budget
        self.busy = bool(late) and "no endpoints available" not in self.message
        self.pause = pause

    @property
    def message(self) -> str:
        """What the API server says, and how long it was asked, if it was too busy."""
        return str(self)

    @property
    def not_found(self) -> bool:
        """Whether the object, its namespace or its type does not exist."""
        return self.status == HTTPStatus.NOT_FOUND

    @property
    def of_budget(self) -> bool:
        """Whether a disruption budget refuses an eviction (kubernetes 1.36, registry/core/pod/storage/eviction.go)."""
        return any(one.get("reason") == "DisruptionBudget" for one in self.details.get("causes") or ())

    @property
    def conflict(self) -> bool:
        """Whether another field manager owns a field, or the object changed meanwhile."""
        return self.status == HTTPStatus.CONFLICT

    @property
    def missing_namespace(self) -> str | None:
        """The name of the namespace, if the namespace was not found."""
        return str(self.details.get("name")) if self.not_found and self.details.get("kind") == "namespaces" else None

    @property
    def missing_account(self) -> str | None:
        """The service account, as `namespace/name`, for want of which a pod is refused (admission ServiceAccount)."""
        found = _ACCOUNT.search(self.message) if self.status == HTTPStatus.FORBIDDEN else None
        return found[1] if found else None


class NoSuchKindError(Exception):
    """The API server does not serve the kind: its CustomResourceDefinition is not installed."""

    def __init__(self, api_version: str, kind: str) -> None:
        self.api_version = api_version
        self.kind = kind
        super().__init__(f'no matches for kind "{kind}" in version "{api_version}"')


class UnreachableError(SandboxError):
    """The API server does not answer; `refused` if nothing listens at its address."""

    def __init__(self, text: str, *, refused: bool = False, busy: bool = False) -> None:
        super().__init__(text)
        self.refused = refused
        self.busy = busy


# The kinds that an API server serves, with their plurals and scopes.

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
"""Accept header with which /api and /apis return everything in one answer each (GA in Kubernetes 1.30)."""


@dataclass(frozen=True)
class ResourceType:
    """A served kind: `apps/v1`, `Deployment`, `deployments`."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool
    verbs: frozenset[str]

    def path(self, namespace: str, name: str = "") -> str:
        """The URL path of one object, or of all in a namespace; without a namespace, of all in the cluster."""
        root = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        inside = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return f"{root}{inside}/{self.plural}" + (f"/{name}" if name else "")


class Discovery:
    """Caches served kinds. A kind that is not served is looked up each time: its CRD may have been installed since."""

    def __init__(self, get: Callable[..., Any]) -> None:
        self._get = get
        self._known: dict[tuple[str, str], ResourceType] = {}
        self._lock = threading.Lock()

    def find(self, api_version: str, kind: str) -> ResourceType:
        """The served kind. Raises NoSuchKindError if the API server does not serve it."""
        key = (api_version, kind)
        if key not in self._known:
            self._load(api_version)
        resource = self._known.get(key)
        if resource is None:
            raise NoSuchKindError(api_version, kind)
        return resource

    def forget(self, group: str) -> None:
        """Drop a group from the cache: one of its CRDs was changed or removed."""
        with self._lock:
            for key in [key for key in self._known if key[0].partition("/")[0] == group]:
                del self._known[key]

    def everything(self) -> tuple[ResourceType, ...]:
        """All kinds that can be listed, in each group's preferred version."""
        by_plural: dict[tuple[str, str], ResourceType] = {}
        for path in ("/api", "/apis"):
            for group in self._get(path, headers={"Accept": AGGREGATED}).get("items") or ():
                for each in _in_group(group):
                    by_plural.setdefault((each.api_version.rpartition("/")[0], each.plural), each)
        return tuple(each for each in by_plural.values() if "list" in each.verbs)

    def _load(self, api_version: str) -> None:
        path = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        try:
            listed = self._get(path)["resources"]
        except ApiError as error:
            if error.not_found:
                return
            raise
        with self._lock:
            for each in listed:
                # "pods/status" is a subresource of pods, not a kind of its own.
                if "/" not in each["name"]:
                    self._known[api_version, each["kind"]] = ResourceType(
                        api_version, each["kind"], each["name"], bool(each["namespaced"]), frozenset(each["verbs"])
                    )


def _in_group(group: dict[str, Any]) -> Iterable[ResourceType]:
    name = (group.get("metadata") or {}).get("name") or ""
    for version in group.get("versions") or ():
        api_version = f"{name}/{version['version']}" if name else version["version"]
        for each in version.get("resources") or ():
            kind = (each.get("responseKind") or {}).get("kind") or each.get("singularResource", "")
            verbs = frozenset(each.get("verbs") or ())
            yield ResourceType(api_version, kind, each["resource"], each.get("scope") == "Namespaced", verbs)


CONNECTIONS = 32
"""The number of the provider's threads."""
TIMEOUT = urllib3.Timeout(connect=30.0, read=REQUEST_SECONDS + 30.0)
BUSY_SECONDS = 30.0
"""How long a call is repeated while the API server makes no progress (`patience.Patience`): ten times at least, if each
is given up after 34 s."""
PAUSE_SECONDS = 1.0
"""Before a call is repeated, unless the API server says how long (`Retry-After`)."""
PAGE = 500
APPLY = "application/apply-patch+yaml"
JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
"""Accept header for an object without spec and status: a CRD may have a megabyte of them, which nothing would use."""
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
"""The same for a list."""


def _trust(authority: str, certificate: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=authority or None)
    if certificate:
        # Python's ssl reads certificates of its own side from files alone; this one is readable by its owner.
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
            file.write(certificate)
            file.flush()
            context.load_cert_chain(file.name)
    return context


class KubeClient:
    """A client of one API server. Thread-safe."""

    def __init__(self, server: str, certificate_authority: str, token: str, certificate: str = "") -> None:
        """`certificate_authority` is PEM text; without it, the machine's own authorities are trusted.

        `certificate` is a client certificate with its key, as PEM text, for users who have no token.
        """
        self.server = server
        self.token = token
        self.certificate_authority = base64.b64encode(certificate_authority.encode()).decode()
        """In the form of a kubeconfig."""
        self._http = urllib3.PoolManager(
            maxsize=CONNECTIONS,
            ssl_context=_trust(certificate_authority, certificate),
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=TIMEOUT,
            retries=False,
        )
        self.discovery = Discovery(self.get_path)
        self.progress: Callable[[], object] = lambda: None
        """What it returns changes while the API server works."""
        self._turn = threading.Lock()

    # -- objects -------------------------------------------------------------------------------------------------------

    def apply(
        self, obj: Mapping[str, Any], manager: str, *, force: bool = False, dry_run: bool = False, subresource: str = ""
    ) -> Object:
        """Server-side apply; returns the resulting object. Raises ApiError, NoSuchKindError."""
        parameters = {"fieldManager": manager, "force": "true" if force else "false"}
        path = self._path(Ref.of(obj)) + (f"/{subresource}" if subresource else "")
        return self._object("PATCH", path, obj, _dry(parameters, dry_run), APPLY)

    def apply_unread(self, obj: Mapping[str, Any], manager: str, *, force: bool = False) -> None:
        """Server-side apply of a large object, without reading it back. Raises ApiError, NoSuchKindError."""
        parameters = {"fieldManager": manager, "force": "true" if force else "false"}
        self._object("PATCH", self._path(Ref.of(obj)), obj, parameters, APPLY, {"Accept": METADATA})

    def create(self, obj: Mapping[str, Any], manager: str, *, dry_run: bool = False) -> Object:
        """Create by POST. On a busy machine this may raise a conflict with what it created itself."""
        path = self._path(Ref.of(obj), named=False)
        return self._object("POST", path, obj, _dry({"fieldManager": manager}, dry_run))

    def ensure(self, obj: Mapping[str, Any], manager: str) -> None:
        """Create it unless it exists, which stays as it is."""
        try:
            self.create(obj, manager)
        except ApiError as error:
            if not error.conflict:
                raise

    def merge(self, ref: Ref, patch: Mapping[str, Any], *, dry_run: bool = False) -> Object:
        """JSON merge patch."""
        return self._object("PATCH", self._path(ref), patch, _dry({}, dry_run), MERGE_PATCH)

    def version(self) -> str:
        """The version that the API server reports, such as `v1.36.3`."""
        return str(self.get_path("/version")["gitVersion"])

    def get(self, ref: Ref) -> Object | None:
        """The object; None if it does not exist."""
        return self._present("GET", self._path(ref))

    def metadata(self, ref: Ref) -> Object | None:
        """The object's metadata alone; None if it does not exist."""
        return self._present("GET", self._path(ref), None, None, JSON, {"Accept": METADATA})

    def delete(self, ref: Ref, propagation: str = "Background", *, grace_seconds: int | None = None) -> Object | None:
        """Request deletion. Returns the object, or None if it does not exist any more."""
        grace = {} if grace_seconds is None else {"gracePeriodSeconds": grace_seconds}
        deleted = self._present("DELETE", self._path(ref), {"propagationPolicy": propagation, **grace})
        return None if deleted is None else self.get(ref)

    def list(
        self, resource: ResourceType, namespace: str = "", selector: str = "", fields: str = "", accept: str = JSON
    ) -> Iterator[Object]:
        """All objects of a kind, in one namespace or in all, with apiVersion and kind filled in; `accept` its form."""
        selectors = {"labelSelector": selector, "fieldSelector": fields}
        parameters = {"limit": str(PAGE), **{key: value for key, value in selectors.items() if value}}
        while True:
            page = self.call("GET", resource.path(namespace), None, parameters, headers={"Accept": accept})
            for item in page.get("items") or ():
                yield {"apiVersion": resource.api_version, "kind": resource.kind, **item}
            token = (page.get("metadata") or {}).get("continue")
            if not token:
                return
            parameters["continue"] = token

    def versions(self, resource: ResourceType) -> Iterator[tuple[str, str]]:
        """UID and resource version of the objects of a kind, at most `PAGE`, read without their contents."""
        path, accepted = resource.path(""), {"Accept": METADATA_LIST}
        for item in self.call("GET", path, None, {"limit": str(PAGE)}, JSON, accepted).get("items") or ():
            yield item["metadata"]["uid"], item["metadata"]["resourceVersion"]

    # -- requests ------------------------------------------------------------------------------------------------------

    def get_path(self, path: str, headers: Mapping[str, str] | None = None) -> Any:
        """GET a path."""
        return self.call("GET", path, headers=headers)

    @contextmanager
    def stream(
        self, path: str, parameters: Mapping[str, str], read_seconds: float
    ) -> Iterator[urllib3.BaseHTTPResponse]:
        """A GET whose answer is read as it comes. Raises ApiError for a refusal, UnreachableError for no answer."""
        url = f"{self.server}{path}?{urlencode(parameters)}"
        timeout = urllib3.Timeout(connect=5.0, read=read_seconds)
        try:
            answer = self._http.request("GET", url, preload_content=False, timeout=timeout)
        except urllib3.exceptions.HTTPError as error:
            raise _unreachable(self.server, error) from error
        try:
            if answer.status >= HTTPStatus.BAD_REQUEST:
                raise ApiError(answer.status, _body(answer))
            yield answer
        finally:
            answer.close()

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        parameters: Mapping[str, str] | None = None,
        content_type: str = JSON,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """One request. Raises ApiError for a refusal, UnreachableError if the API server does not answer.

        What a busy API server did not get to is sent again, one call at a time: all at once they would time out again.
        """
        url = f"{self.server}{path}" + (f"?{urlencode(parameters)}" if parameters else "")
        sent = {**self._http.headers, "Accept": JSON, "Content-Type": content_type, **(headers or {})}

        def send() -> Any:
            try:
                try:
                    answer = self._http.request(method, url, json=body, headers=sent)
                except urllib3.exceptions.ProtocolError:
                    # An API server that restarts closes the connections that were kept (seen after a change of version,
                    # 2026-11-25). As Go's client does, send again what may be sent twice.
                    if method == "POST":
                        raise
                    answer = self._http.request(method, url, json=body, headers=sent)
            except urllib3.exceptions.HTTPError as error:
                raise _unreachable(self.server, error) from error
            if answer.status >= HTTPStatus.BAD_REQUEST:
                pause = answer.headers.get("Retry-After", "")
                raise ApiError(answer.status, _body(answer), float(pause) if pause.isdecimal() else 0.0)
            return answer.json()

        return self.persist(send, self._turn)

    def persist(self, attempt: Callable[[], T], turn: AbstractContextManager[Any] | None = None) -> T:
        """What an attempt returns; repeated, within `turn`, while a busy machine fails it and the API server works.

        Raises what the last attempt raises, with a text that says so if it was given up.
        """
        patience, seen = Patience(BUSY_SECONDS), None
        within: AbstractContextManager[Any] = nullcontext()
        while True:
            try:
                with within:
                    return attempt()
            except (ApiError, SandboxError) as error:
                if not error.busy or cancelled():
                    raise
                # Who counts is another process, of which nothing is seen.
                before, seen = seen, object() if _UNCOUNTED in str(error) else self.progress()
                if not patience.look(seen, answered=not isinstance(error, UnreachableError) or seen != before):
                    error.busy, error.args = False, (f"{error} ({_given_up(patience)})",)
                    raise
                time.sleep((isinstance(error, ApiError) and error.pause) or PAUSE_SECONDS)
                within = turn or within

    def _object(self, method: str, path: str, *rest: Any) -> Object:
        obj: Object = self.call(method, path, *rest)
        return obj

    def _present(self, *arguments: Any) -> Object | None:
        try:
            return self._object(*arguments)
        except ApiError as error:
            if error.not_found:
                return None
            raise

    def _path(self, ref: Ref, *, named: bool = True) -> str:
        resource = self.discovery.find(ref.api_version, ref.kind)
        return resource.path(ref.namespace or DEFAULT_NAMESPACE, ref.name if named else "")


def _unreachable(server: str, error: urllib3.exceptions.HTTPError) -> UnreachableError:
    refused = isinstance(error, urllib3.exceptions.NewConnectionError)
    busy = not refused and isinstance(error, urllib3.exceptions.TimeoutError)
    return UnreachableError(f"the API server at {server} does not answer: {error}", refused=refused, busy=busy)


def _given_up(patience: Patience) -> str:
    load, processors = os.getloadavg()[0], os.cpu_count() or 1
    cause = "the machine was too busy for it" if load > processors else "repeated"
    less = "`-- --parallel 2` asks less of the machine at once"
    return f"{cause}, at load {load:.1f} on {processors} processors, {patience}: {GOES_ON}; {less}"


def _dry(parameters: dict[str, str], dry_run: bool) -> dict[str, str]:
    return {**parameters, "dryRun": "All"} if dry_run else parameters


def _body(answer: urllib3.BaseHTTPResponse) -> Mapping[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        body = {"message": answer.data.decode(errors="replace").strip() or f"HTTP {answer.status}"}
    return body if isinstance(body, dict) else {"message": str(body)}
