"""The provider's processes: one for each account, Region and default tags, because one is configured once."""

from __future__ import annotations

import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from sandbox import toolchain
from sandbox.aws.client import Aws, keys
from sandbox.aws.terraform.names import Types
from sandbox.aws.terraform.plugin import Plugin
from sandbox.rpc.errors import ProviderError
from spec import strict_yaml

LOG = logging.getLogger(__name__)
TOOL: Final = "terraform-provider-aws"
MOST: Final = 4
"""Processes that are kept while nobody uses them; each takes 125 to 167 MiB (2026-11)."""
_SETTINGS: Final[Mapping[str, Any]] = strict_yaml.beside(__file__)


@dataclass
class _Running:
    plugin: Plugin
    users: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Processes:
    """Running providers, at most `MOST` more than are in use."""

    def __init__(self, log: Path | None = None) -> None:
        self._log = log or Path(os.devnull)
        # A process ends with the thread that started it (sandbox/launch.py).
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="terraform-provider")
        self._running: OrderedDict[tuple[Any, ...], _Running] = OrderedDict()
        self._lock = threading.RLock()

    @cached_property
    def binary(self) -> Path:
        """The provider. Raises ProviderError, with the fix, if this machine has none."""
        try:
            path = toolchain.find(TOOL)
        except toolchain.ToolError as error:
            raise ProviderError(str(error)) from error
        if path is None:
            msg = f"the sandbox's AWS needs {TOOL}, which is not on this machine: run `make tools`, which builds it"
            raise ProviderError(msg)
        return path

    @cached_property
    def types(self) -> Types:
        """The types of the provider, which are the same in all processes."""
        with self._lock:
            one = next(iter(self._running.values()), None)
            if one is not None:
                return Types(one.plugin.schemas)
        plugin = self._starter.submit(Plugin, self.binary, self._log, _SETTINGS["environment"]).result()
        try:
            return Types(plugin.schemas)
        finally:
            plugin.close()

    @contextmanager
    def of(self, aws: Aws) -> Iterator[Plugin]:
        """The provider that acts on an account, which stays meanwhile."""
        key = (aws.clients.endpoint, aws.account, aws.region, *sorted(aws.default_tags.items()))
        with self._lock:
            running = self._running.get(key)
            if running is None or running.plugin.process.poll() is not None:
                if running is not None:
                    LOG.error("%s ended by itself, with %s", TOOL, running.plugin.process.returncode)
                running = self._running[key] = _Running(self._starter.submit(self._started, aws).result())
            self._running.move_to_end(key)
            running.users += 1
        try:
            yield running.plugin
        finally:
            with self._lock:
                running.users -= 1
                idle = [key for key, one in self._running.items() if not one.users]
                ended = [self._running.pop(key).plugin for key in idle[:-MOST]]
            for plugin in ended:
                plugin.close()

    def _started(self, aws: Aws) -> Plugin:
        endpoint, session = aws.clients.endpoint, keys(aws)
        # The host of S3 Control has the account before the address: only a proxy finds it.
        hosts = {"AWS_ENDPOINT_URL": endpoint, "HTTP_PROXY": endpoint}
        plugin = Plugin(self.binary, self._log, {**_SETTINGS["environment"], **hosts})
        signed = {
            "access_key": session["AWS_ACCESS_KEY_ID"],
            "secret_key": session["AWS_SECRET_ACCESS_KEY"],
            "token": session["AWS_SESSION_TOKEN"],
        }
        tags = [{"tags": dict(aws.default_tags)}]
        plugin.configure({**_SETTINGS["provider"], **signed, "region": aws.region, "default_tags": tags})
        return plugin

    def stop(self) -> None:
        """End all of them."""
        with self._lock:
            ended = [self._running.popitem()[1].plugin for _ in range(len(self._running))]
        for plugin in ended:
            plugin.close()
        self._starter.shutdown()
