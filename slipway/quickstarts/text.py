"""Manifests as YAML that a person reads and edits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import yaml

from components.workloads import WorkloadManifests
from components.workloads.metadata import SKIP_AWAIT

WIDTH: Final = 120
_OF_PULUMI: Final = (SKIP_AWAIT,)
"""Annotations for Pulumi, which `kubectl` has no use for."""


class _Dumper(yaml.SafeDumper):
    """Programs as blocks of lines, and no aliases of repeated parts."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's method
        return True


def _string(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _string)


def text(manifests: WorkloadManifests, comments: Iterable[str]) -> str:
    """One YAML document for each object, in the order in which they are created, below the comments."""
    head = "".join(f"# {line}\n" for line in comments)
    documents = [
        yaml.dump(_plain(one.manifest), Dumper=_Dumper, sort_keys=False, width=WIDTH) for one in manifests.values()
    ]
    return head + "---\n".join(documents)


def _plain(manifest: Mapping[str, Any]) -> dict[str, Any]:
    metadata = dict(manifest["metadata"])
    notes = {key: value for key, value in metadata.pop("annotations", {}).items() if key not in _OF_PULUMI}
    return {**manifest, "metadata": {**metadata, **({"annotations": notes} if notes else {})}}
