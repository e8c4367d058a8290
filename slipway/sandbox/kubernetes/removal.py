"""Deleting objects completely.

The controllers of add-ons do not run in the sandbox, so nothing handles their finalizers; the spare API server has no
controller manager to empty namespaces either.
The sandbox does it instead: once an object is marked for deletion, its finalizers are removed, as the controllers would
do after their work, of which there is none here. Only CustomResourceDefinitions are finalized inside the API server.
"""

from __future__ import annotations

from http import HTTPStatus

from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.discovery import ResourceType
from slipway.sandbox.kubernetes.errors import ApiError, NoSuchKindError
from slipway.sandbox.kubernetes.objects import Object, Ref
from slipway.sandbox.kubernetes.waiting import until

SECONDS = 30.0
"""A namespace with an object of each kind takes 0.8 s (2 cores, 2026-11)."""
_UNAVAILABLE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.SERVICE_UNAVAILABLE})
"""Answers for a kind that is not served any more, does not support deletecollection, or belongs to an aggregated API
whose server does not run."""


def remove(client: KubeClient, ref: Ref) -> None:
    """Delete an object and wait until it is gone; no error if it does not exist or its kind is not served any more."""
    try:
        if ref.kind == "CustomResourceDefinition":
            _remove_objects(client, ref)
        remaining = client.delete(ref)
    except NoSuchKindError:
        return
    if remaining is not None:
        uid = remaining["metadata"]["uid"]
        until(lambda: _gone(client, ref, uid), SECONDS, f"{ref} is still there")
    if ref.kind == "CustomResourceDefinition":
        client.discovery.forget(ref.name.partition(".")[2])


def _gone(client: KubeClient, ref: Ref, uid: str) -> bool | None:
    """True once the object is gone; each call does the remaining work."""
    obj = client.get(ref)
    if obj is None or obj["metadata"]["uid"] != uid:
        return True
    if ref.kind == "Namespace" and ref.api_version == "v1":
        _empty_and_finalize(client, ref)
    elif ref.kind == "CustomResourceDefinition":
        for left in objects_of(client, obj):
            _release(client, left)
    else:
        _release(client, obj)
    return None


def _release(client: KubeClient, obj: Object) -> None:
    """Remove the finalizers of an object that is marked for deletion."""
    metadata = obj["metadata"]
    if not metadata.get("deletionTimestamp"):
        return
    try:
        if metadata.get("finalizers"):
            client.merge(Ref.of(obj), {"metadata": {"finalizers": None}})
        elif metadata.get("deletionGracePeriodSeconds"):
            # A pod on a node: its kubelet would confirm the end by deleting it without grace.
            client.delete(Ref.of(obj), grace_seconds=0)
    except ApiError as error:
        if not (error.not_found or error.conflict):
            raise


def objects_of(client: KubeClient, crd: Object) -> list[Object]:
    """All objects of a CRD's kind."""
    spec = crd["spec"]
    version = next(each["name"] for each in spec["versions"] if each["storage"])
    names, namespaced = spec["names"], spec["scope"] == "Namespaced"
    resource = ResourceType(f"{spec['group']}/{version}", names["kind"], names["plural"], namespaced, frozenset())
    try:
        return list(client.list(resource))
    except ApiError as error:
        if error.status in _UNAVAILABLE:
            return []
        raise


def _remove_objects(client: KubeClient, ref: Ref) -> None:
    """Delete the objects before their CRD: while one with a finalizer is left, the API server retries every 5 s."""
    crd = client.get(ref)
    for obj in objects_of(client, crd) if crd is not None else ():
        remaining = client.delete(Ref.of(obj))
        if remaining is not None:
            _release(client, remaining)


def _empty_and_finalize(client: KubeClient, ref: Ref) -> None:
    """The namespace controller's work: delete all objects inside, then the finalizer of the namespace itself."""
    left = 0
    for resource in client.discovery.everything():
        if resource.namespaced and "deletecollection" in resource.verbs:
            left += _empty(client, resource, ref.name)
    if left == 0:
        body = {**ref.as_object(), "spec": {"finalizers": []}}
        try:
            client.call("PUT", f"/api/v1/namespaces/{ref.name}/finalize", body)
        except ApiError as error:
            if not (error.not_found or error.conflict):
                raise


def _empty(client: KubeClient, resource: ResourceType, namespace: str) -> int:
    """Delete the objects of a kind in a namespace; returns how many still exist after the request."""
    try:
        client.call("DELETE", resource.path(namespace), {"propagationPolicy": "Background"})
        left = list(client.list(resource, namespace))
    except ApiError as error:
        if error.status in _UNAVAILABLE:
            return 0
        raise
    for obj in left:
        _release(client, obj)
    return len(left)
