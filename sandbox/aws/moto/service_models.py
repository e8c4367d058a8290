"""Parsing AWS's service models once per process: otherwise each botocore session reads them again, and moto makes many.

EC2's model was parsed 6 times for the first calls, for 0.9 s of CPU and 50 MB (2026-11). Sessions share the parsed
documents, which therefore must not change: what botocore and moto add to a model goes into a copy of the changed parts,
visible only to the session that added it. Moto's additions would break a client: they give SQS another protocol
(moto 5.2.5, sqs/2012-11-05/service-2.moto-extras.json.gz).

Plain dicts, which keep their order, take half the time of botocore's OrderedDict.
"""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import botocore.loaders

_READERS: Mapping[str, Callable[[bytes], bytes]] = MappingProxyType(
    {".json": lambda content: content, ".json.gz": gzip.decompress}
)
_CHANGED = re.compile(r"[/\\](endpoints|s3[/\\].*|s3control[/\\].*)$")
"""Documents that botocore itself changes (1.44.5), so that each session needs its own: the endpoints, while it resolves
them (regions.py `_resolve`), and S3's models, from whose paths it removes the bucket at the first call (handlers.py
`remove_bucket_from_url_paths_from_model`, `remove_accid_host_prefix_from_model`)."""

_LOCK = threading.Lock()
_PARSED: dict[str, dict[str, Any]] = {}


def install() -> None:
    """Let all botocore loaders that are created from now on share parsed documents. Idempotent."""
    botocore.loaders.Loader.FILE_LOADER_CLASS = SharedFiles
    botocore.loaders.ExtrasProcessor = CopyingExtras


class SharedFiles:
    """Replaces botocore.loaders.JSONFileLoader; paths are given without their suffix."""

    def exists(self, file_path: str) -> bool:
        """Whether the file exists."""
        return any(Path(file_path + suffix).is_file() for suffix in _READERS)

    def load_file(self, file_path: str) -> dict[str, Any] | None:
        """The document; None if there is none. Its top level is the caller's own copy, the rest is shared."""
        if _CHANGED.search(file_path):
            return _read(file_path)
        with _LOCK:
            if file_path not in _PARSED and (document := _read(file_path)) is not None:
                _PARSED[file_path] = document
            return dict(_PARSED[file_path]) if file_path in _PARSED else None


class CopyingExtras:
    """Replaces botocore.loaders.ExtrasProcessor; leaves shared parts unchanged."""

    def process(self, original_model: dict[str, Any], extra_models: Iterable[Mapping[str, Any]]) -> None:
        """Add the extras to a model; only its top level is changed in place."""
        for extra in extra_models:
            original_model.update(_merged(original_model, extra.get("merge", {})))


def _read(file_path: str) -> dict[str, Any] | None:
    for suffix, reader in _READERS.items():
        path = Path(file_path + suffix)
        if path.is_file():
            document: dict[str, Any] = json.loads(reader(path.read_bytes()))
            return document
    return None


def _merged(base: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of `base` with the result of `botocore.utils.deep_merge`."""
    merged = dict(base)
    for key, item in extra.items():
        below = merged.get(key)
        merged[key] = _merged(below, item) if isinstance(below, dict) and isinstance(item, dict) else item
    return merged
