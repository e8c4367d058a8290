"""CRDs on the API server that tests share."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

from sandbox.kubernetes import crds, waiting
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Object, Ref, without_descriptions
from sandbox.kubernetes.waiting import until
from tests.support.patience import SECONDS

DIGEST: Final = "tests.slipway/digest"
"""Annotation of a CRD with the SHA-256 of what was installed."""


def define(client: KubeClient, definitions: Iterable[Mapping[str, Any]]) -> None:
    """Install these CRDs without objects, replacing those that other test modules installed under the same names.

    One that is there as it would be installed stays: nineteen that stay take 0.5 s of CPU, thirteen that are replaced
    take 17. None is removed afterwards: removing those of KServe and Argo takes 19 s (2 cores, 2026-11).
    """
    wanted = [_with_digest(without_descriptions(each)) for each in definitions]
    for each in wanted:
        present = client.metadata(Ref.of(each))
        if present is not None and _is_the_same(present["metadata"], each["metadata"]):
            for one in crds.objects_of(client, each):
                waiting.delete(client, Ref.of(one))
        elif present is not None:
            waiting.delete(client, Ref.of(each))
            # Discovery lists a kind for a moment longer: what is installed meanwhile would seem to be served.
            until(partial(_is_unlisted, client, each), SECONDS, f"{Ref.of(each)} is deleted, and still listed")
    crds.install_all(client, wanted, "test")


def _is_unlisted(client: KubeClient, crd: Object) -> bool | None:
    spec = crd["spec"]
    client.discovery.forget(spec["group"])
    served = [f"{spec['group']}/{each['name']}" for each in spec["versions"] if each["served"]]
    return None if any(crds.is_served(client, Ref(one, spec["names"]["kind"], "")) for one in served) else True


def _with_digest(crd: Object) -> Object:
    digest = hashlib.sha256(json.dumps(crd, sort_keys=True, default=str).encode()).hexdigest()
    annotations = {**(crd["metadata"].get("annotations") or {}), DIGEST: digest}
    return {**crd, "metadata": {**crd["metadata"], "annotations": annotations}}


def _is_the_same(present: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Nobody has changed or deleted what `define` installed: a change of its spec would have raised its generation."""
    digest = (present.get("annotations") or {}).get(DIGEST)
    untouched = present.get("generation") == 1 and "deletionTimestamp" not in present
    return untouched and digest == wanted["annotations"][DIGEST]
