"""A small client of the Kubernetes API: server-side apply, get, list, delete, and what little else the provider needs.

Its own, because the official client's ApiClient changes its inner ways between releases (37.x did) and its typed models
drop what they do not know, while a provider must pass every field on as it is.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

import urllib3

from slipway.sandbox.kubernetes.discovery import Discovery, ResourceType
from slipway.sandbox.kubernetes.errors import ApiError, UnreachableError
from slipway.sandbox.kubernetes.objects import DEFAULT_NAMESPACE, Object, Ref

CONNECTIONS = 32
"""As many as the provider has threads."""
TIMEOUT = urllib3.Timeout(connect=5.0, read=60.0)
PAGE = 500
ATTEMPTS = 4
APPLY = "application/apply-patch+yaml"
JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
"""Asks for an object without its spec and status: a CRD may hold a megabyte of them, which the API server would write
and we would read for nothing."""
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
"""The same for a list."""


class KubeClient:
    """A client of one API server. Safe for any number of threads."""

    def __init__(self, server: str, certificate_authority: str, token: str) -> None:
        """`certificate_authority` is PEM text."""
        self.server = server
        self._http = urllib3.PoolManager(
            maxsize=CONNECTIONS,
            ssl_context=ssl.create_default_context(cadata=certificate_authority),
            headers={"Authorization": f"Bearer {token}"},
            timeout=TIMEOUT,
            retries=False,
        )
        self.discovery = Discovery(self.get_path)

    # -- objects -------------------------------------------------------------------------------------------------------

    def apply(
        self,
        obj: Mapping[str, Any],
        manager: str,
        *,
        force: bool = False,
        dry_run: bool = False,
        subresource: str = "",
    ) -> Object:
        """Server-side apply; the object as it is afterwards. Raises ApiError, NoSuchKindError."""
        parameters = {"fieldManager": manager, "force": "true" if force else "false"}
        path = self._path(Ref.of(obj)) + (f"/{subresource}" if subresource else "")
        return self._apply(path, obj, _dry(parameters, dry_run), APPLY)

    def apply_unread(self, obj: Mapping[str, Any], manager: str, *, force: bool = False) -> None:
        """Server-side apply of a large object, without reading it back. Raises ApiError, NoSuchKindError."""
        parameters = {"fieldManager": manager, "force": "true" if force else "false"}
        self._apply(self._path(Ref.of(obj)), obj, parameters, APPLY, {"Accept": METADATA})

    def create(self, obj: Mapping[str, Any], manager: str, *, dry_run: bool = False) -> Object:
        """Create by POST, the only way for an object with `generateName`."""
        path = self._path(Ref.of(obj), named=False)
        return self._object("POST", path, obj, _dry({"fieldManager": manager}, dry_run))

    def replace(self, obj: Mapping[str, Any], manager: str, subresource: str = "") -> Object:
        """Replace the object as a whole, or one subresource of it such as `status`."""
        path = self._path(Ref.of(obj)) + (f"/{subresource}" if subresource else "")
        return self._object("PUT", path, obj, {"fieldManager": manager})

    def merge(self, ref: Ref, patch: Mapping[str, Any]) -> Object:
        """JSON merge patch."""
        return self._object("PATCH", self._path(ref), patch, {}, MERGE_PATCH)

    def get(self, ref: Ref) -> Object | None:
        """The object, None when it does not exist."""
        try:
            return self._object("GET", self._path(ref))
        except ApiError as error:
            if error.not_found:
                return None
            raise

    def metadata(self, ref: Ref) -> Object | None:
        """The object's metadata alone, None when it does not exist."""
        try:
            return self._object("GET", self._path(ref), None, None, JSON, {"Accept": METADATA})
        except ApiError as error:
            if error.not_found:
                return None
            raise

    def delete(self, ref: Ref, grace_seconds: int | None = None) -> Object | None:
        """Ask for deletion, with background propagation. Returns what remains: None when it is gone."""
        grace = {} if grace_seconds is None else {"gracePeriodSeconds": grace_seconds}
        try:
            self.call("DELETE", self._path(ref), {"propagationPolicy": "Background", **grace})
        except ApiError as error:
            if error.not_found:
                return None
            raise
        return self.get(ref)

    def list(self, resource: ResourceType, namespace: str = "", selector: str = "") -> Iterator[Object]:
        """All objects of a kind, in one namespace or in all; their apiVersion and kind are filled in."""
        parameters = {"limit": str(PAGE), **({"labelSelector": selector} if selector else {})}
        while True:
            page = self.call("GET", resource.path(namespace), parameters=parameters)
            for item in page.get("items") or ():
                yield {"apiVersion": resource.api_version, "kind": resource.kind, **item}
            token = (page.get("metadata") or {}).get("continue")
            if not token:
                return
            parameters["continue"] = token

    # -- requests ------------------------------------------------------------------------------------------------------

    def get_path(self, path: str, headers: Mapping[str, str] | None = None) -> Any:
        """GET a path as it is."""
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
            msg = f"the API server at {self.server} does not answer: {error}"
            raise UnreachableError(msg) from error
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
        """One request. Raises ApiError for a refusal, UnreachableError when nobody answers."""
        url = f"{self.server}{path}" + (f"?{urlencode(parameters)}" if parameters else "")
        sent = {**self._http.headers, "Accept": JSON, "Content-Type": content_type, **(headers or {})}
        try:
            answer = self._http.request(method, url, json=body, headers=sent)
        except urllib3.exceptions.HTTPError as error:
            msg = f"the API server at {self.server} does not answer: {error}"
            raise UnreachableError(msg) from error
        if answer.status >= HTTPStatus.BAD_REQUEST:
            raise ApiError(answer.status, _body(answer))
        return answer.json()

    def _object(self, method: str, path: str, *rest: Any) -> Object:
        found: Object = self.call(method, path, *rest)
        return found

    def _apply(self, *arguments: Any) -> Object:
        """An API server that is busy gives an apply up after 34 s; to repeat it does no harm."""
        for _ in range(ATTEMPTS - 1):
            try:
                return self._object("PATCH", *arguments)
            except ApiError as error:
                if error.status != HTTPStatus.GATEWAY_TIMEOUT:
                    raise
        return self._object("PATCH", *arguments)

    def _path(self, ref: Ref, *, named: bool = True) -> str:
        resource = self.discovery.find(ref.api_version, ref.kind)
        return resource.path(ref.namespace or DEFAULT_NAMESPACE, ref.name if named else "")


def _dry(parameters: dict[str, str], dry_run: bool) -> dict[str, str]:
    return {**parameters, "dryRun": "All"} if dry_run else parameters


def _body(answer: urllib3.BaseHTTPResponse) -> Mapping[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        body = {"message": answer.data.decode(errors="replace").strip() or f"HTTP {answer.status}"}
    return body if isinstance(body, dict) else {"message": str(body)}
