"""HashiCorp's plugin protocol: a provider as a process, its schemas, and its answers as plain values."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import grpc

from sandbox.aws.terraform.messages import CLASSES, METHODS, pack, unpack

_COOKIE: Final = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2"
"""What a provider waits for, so that nobody starts it by hand (terraform-plugin-go v0.31.0, tf5server/server.go)."""
_LAUNCHER: Final = Path(__file__).parents[2] / "launch.py"
_ERROR: Final = 1
MANY: Final = (2, 3)
"""NestingMode LIST and SET; SINGLE and GROUP are one block."""
SET: Final = 3


class RefusedError(Exception):
    """What the provider says against a call: `at` are the paths of attributes, in Terraform's names."""

    def __init__(self, problems: Sequence[tuple[tuple[Any, ...], str]], partial: Any = None) -> None:
        super().__init__("; ".join(text for _, text in problems))
        self.problems = tuple(problems)
        self.partial = partial


class Plugin:
    """A running provider; `with` ends it. The thread that starts it has to outlive it."""

    def __init__(self, binary: Path, log: Path, environment: Mapping[str, str] | None = None) -> None:
        # It asks nobody for credentials or a region but the configuration.
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "TF_"))}
        wanted = {"TF_PLUGIN_MAGIC_COOKIE": _COOKIE, "PLUGIN_PROTOCOL_VERSIONS": "5", **(environment or {})}
        launch = [sys.executable, "-I", "-S", str(_LAUNCHER), str(os.getpid()), str(binary)]
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                launch, env={**kept, **wanted}, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        # "1|5|unix|/tmp/plugin1|grpc|"
        answer = self.process.stdout.readline().strip().split("|") if self.process.stdout is not None else []
        if len(answer) < 5:
            self.close()
            msg = f"{binary} did not start: {'|'.join(answer) or 'it said nothing'} (log: {log})"
            raise OSError(msg)
        target = f"unix:{answer[3]}" if answer[2] == "unix" else answer[3]
        options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
        self._channel = grpc.insecure_channel(target, options=options)
        self._calls = {
            name: self._channel.unary_unary(
                f"/tfplugin5.Provider/{name}",
                request_serializer=CLASSES[f"{name}Request"].SerializeToString,
                response_deserializer=CLASSES[f"{name}Response"].FromString,
            )
            for name in METHODS
        }

    def __enter__(self) -> Plugin:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        if hasattr(self, "_channel"):
            self._channel.close()
        self.process.terminate()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def call(self, method: str, **fields: Any) -> Any:
        """A call; bytes are values in msgpack.

        Raises:
            RefusedError: The answer has errors.
        """
        return checked(self.begin(method, **fields).result())

    def begin(self, method: str, **fields: Any) -> Any:
        """The same as a future of grpc, whose answer is not `checked`."""
        wrapped = {name: _wrapped(name, value) for name, value in fields.items()}
        return self._calls[method].future(CLASSES[f"{method}Request"](**wrapped))

    @cached_property
    def schemas(self) -> Any:
        """Schemas of the provider, its types and data sources."""
        return self.call("GetSchema")

    def configure(self, values: Mapping[str, Any]) -> None:
        """Configure the provider, once; attributes and blocks that aren't named are null."""
        config = complete(self.schemas.provider.block, values)
        self.call("Configure", terraform_version="1.9.0", config=pack(config))


def checked(answer: Any) -> Any:
    """The answer. Raises RefusedError for errors in it."""
    problems = [
        (path_of(each.attribute), _text(each)) for each in getattr(answer, "diagnostics", ()) if each.severity == _ERROR
    ]
    if problems:
        raise RefusedError(problems, answer)
    return answer


def _wrapped(name: str, value: Any) -> Any:
    dynamic = isinstance(value, bytes) and not name.endswith("private")
    return CLASSES["DynamicValue"](msgpack=value) if dynamic else value


def _text(diagnostic: Any) -> str:
    return f"{diagnostic.summary}: {diagnostic.detail}" if diagnostic.detail else str(diagnostic.summary)


def path_of(path: Any) -> tuple[Any, ...]:
    """Steps as names and indexes; of an element of a set nothing but its existence is said."""
    return tuple(step.attribute_name or step.element_key_string or step.element_key_int for step in path.steps)


def complete(block: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with all that the block has: attributes that are missing are null, and blocks empty."""
    result: dict[str, Any] = {each.name: values.get(each.name) for each in block.attributes}
    for each in block.block_types:
        given = values.get(each.type_name)
        if each.nesting in MANY:
            result[each.type_name] = [complete(each.block, one) for one in given or ()]
        else:
            result[each.type_name] = complete(each.block, given) if given is not None else None
    return result


def value_of(dynamic: Any) -> Any:
    """The plain value of an answer."""
    return unpack(dynamic.msgpack)
