"""AWS's service models, read once a process: botocore has each session read them anew, and moto makes many sessions.

EC2's model was parsed 6 times for the first calls, which cost 0.9 s of processor time and 50 MB (2026-11). The
documents are shared here between sessions, so nobody may change them: what botocore and moto add of their own to a
model goes into a copy of the parts concerned, and stays with the one who added it. Moto's additions would lead a client
astray: they give SQS another protocol (moto 5.2.5, sqs/2012-11-05/service-2.moto-extras.json.gz).

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
"""Files that botocore itself writes into (1.44.5), so that each session has its own: the endpoints, as it resolves them
(regions.py `_resolve`), and S3's models, from whose paths it takes the bucket at the first call (handlers.py
`remove_bucket_from_url_paths_from_model`, `remove_accid_host_prefix_from_model`)."""

_LOCK = threading.Lock()
_PARSED: dict[str, dict[str, Any]] = {}


def install() -> None:
    """Have every loader of botocore's that is made from now on share what is read. Again is as good as once."""
    botocore.loaders.Loader.FILE_LOADER_CLASS = SharedFiles
    botocore.loaders.ExtrasProcessor = CopyingExtras


class SharedFiles:
    """What botocore.loaders.JSONFileLoader does; a path is named without its suffix."""

    def exists(self, file_path: str) -> bool:
        """Whether there is such a file."""
        return any(Path(file_path + suffix).is_file() for suffix in _READERS)

    def load_file(self, file_path: str) -> dict[str, Any] | None:
        """The document, None where there is none. Its uppermost level is the caller's own, the rest is everybody's."""
        if _CHANGED.search(file_path):
            return _read(file_path)
        with _LOCK:
            if file_path not in _PARSED and (found := _read(file_path)) is not None:
                _PARSED[file_path] = found
            return dict(_PARSED[file_path]) if file_path in _PARSED else None


class CopyingExtras:
    """What botocore.loaders.ExtrasProcessor does, without a change to the parts that are shared."""

    def process(self, original_model: dict[str, Any], extra_models: Iterable[Mapping[str, Any]]) -> None:
        """Add the extras to a model, whose uppermost level alone is changed in place."""
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
    """A copy of `base` as `botocore.utils.deep_merge` would leave it."""
    found = dict(base)
    for key, item in extra.items():
        below = found.get(key)
        found[key] = _merged(below, item) if isinstance(below, dict) and isinstance(item, dict) else item
    return found
