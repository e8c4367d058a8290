"""A small client of the Kubernetes API: server-side apply, get, list, delete, and the few other calls that are needed.

The official client does not fit: the internals of its ApiClient change between releases (37.x did), and its typed
models drop unknown fields, while a provider must pass on every field.
"""

from __future__ import annotations

import base64
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
"""The number of the provider's threads."""
TIMEOUT = urllib3.Timeout(connect=5.0, read=60.0)
PAGE = 500
ATTEMPTS = 4
APPLY = "application/apply-patch+yaml"
JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
"""Accept header for an object without spec and status: a CRD may have a megabyte of them, which nothing would use."""
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
"""The same for a list."""


class KubeClient:
    """A client of one API server. Thread-safe."""

    def __init__(self, server: str, certificate_authority: str, token: str) -> None:
        """`certificate_authority` is PEM text."""
        self.server = server
        self.token = token
        self.certificate_authority = base64.b64encode(certificate_authority.encode()).decode()
        """In the form of a kubeconfig."""
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
        """Server-side apply; returns the resulting object. Raises ApiError, NoSuchKindError."""
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
        """Replace the object, or one subresource of it such as `status`."""
        path = self._path(Ref.of(obj)) + (f"/{subresource}" if subresource else "")
        return self._object("PUT", path, obj, {"fieldManager": manager})

    def merge(self, ref: Ref, patch: Mapping[str, Any], *, dry_run: bool = False) -> Object:
        """JSON merge patch."""
        return self._object("PATCH", self._path(ref), patch, _dry({}, dry_run), MERGE_PATCH)

    def version(self) -> str:
        """The version that the API server reports, such as `v1.36.3`."""
        return str(self.get_path("/version")["gitVersion"])

    def get(self, ref: Ref) -> Object | None:
        """The object; None if it does not exist."""
        try:
            return self._object("GET", self._path(ref))
        except ApiError as error:
            if error.not_found:
                return None
            raise

    def metadata(self, ref: Ref) -> Object | None:
        """The object's metadata alone; None if it does not exist."""
        try:
            return self._object("GET", self._path(ref), None, None, JSON, {"Accept": METADATA})
        except ApiError as error:
            if error.not_found:
                return None
            raise

    def delete(self, ref: Ref, propagation: str = "Background", *, grace_seconds: int | None = None) -> Object | None:
        """Request deletion. Returns the object, or None if it does not exist any more."""
        grace = {} if grace_seconds is None else {"gracePeriodSeconds": grace_seconds}
        try:
            self.call("DELETE", self._path(ref), {"propagationPolicy": propagation, **grace})
        except ApiError as error:
            if error.not_found:
                return None
            raise
        return self.get(ref)

    def list(
        self, resource: ResourceType, namespace: str = "", selector: str = "", fields: str = ""
    ) -> Iterator[Object]:
        """All objects of a kind, in one namespace or in all, with apiVersion and kind filled in."""
        selectors = {"labelSelector": selector, "fieldSelector": fields}
        parameters = {"limit": str(PAGE), **{key: value for key, value in selectors.items() if value}}
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
        """One request. Raises ApiError for a refusal, UnreachableError if the API server does not answer."""
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
        obj: Object = self.call(method, path, *rest)
        return obj

    def _apply(self, *arguments: Any) -> Object:
        """Apply with retries: a busy API server gives up after 34 s, and apply is idempotent."""
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
