"""Pinned versions of software that is published as manifests and not as a chart, each with its source and date."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final


@dataclass(frozen=True, kw_only=True)
class ManifestRef:
    """One version of one project's manifests, which the platform declares itself.

    Attributes:
        name: Name of the project.
        version: Its release: the tag of its repository.
        image: Image that the manifests of this release name.
        released: Date of the release.
        source: Where version and image were read.
    """

    name: str
    version: str
    image: str
    released: date
    source: str


TRAINING_OPERATOR: Final = ManifestRef(
    name="training-operator",
    version="v1.9.4",
    image="ghcr.io/kubeflow/training-v1/training-operator:v1-93c5489",
    released=date(2026, 8, 18),
    # Tags of the image are commits, and each release names one in a commit of its own (kubeflow/trainer#3947).
    source="github.com/kubeflow/trainer, tag v1.9.4, manifests/overlays/standalone/kustomization.yaml",
)
MPI_OPERATOR: Final = ManifestRef(
    name="mpi-operator",
    version="v0.8.2",
    image="mpioperator/mpi-operator:0.8.2",
    released=date(2026, 7, 3),
    source="github.com/kubeflow/mpi-operator, RELEASE.md and deploy/v2beta1 of v0.8.2",
)
"""The version that Kueue 0.19.2 is built with (its go.mod); Kueue requires 0.8.0 or newer."""
