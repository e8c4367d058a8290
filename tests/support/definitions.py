"""CRDs on the API server that tests share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from slipway.sandbox.kubernetes import awaits, crd_forms, crds
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.objects import Ref


def define(client: KubeClient, definitions: Iterable[Mapping[str, Any]]) -> None:
    """Install these CRDs, replacing those that other test modules installed under the same names.

    They aren't removed: removing those of KServe and Argo takes 19 s (2 cores, 2026-11).
    """
    wanted = [crd_forms.without_descriptions(each) for each in definitions]
    for each in wanted:
        awaits.delete(client, Ref.of(each))
    crds.install_all(client, wanted, "test")
