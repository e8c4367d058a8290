"""The messages of the plugin protocol, declared from `protocol.yaml`, and the values in them."""

import struct
from collections.abc import Mapping
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from spec import strict_yaml

_PROTOCOL: Final = strict_yaml.beside(__file__, "protocol")
_PACKAGE: Final = "tfplugin5"
_KINDS: Final = {"int64": 3, "int32": 5, "bool": 8, "string": 9, "bytes": 12}
"""Numbers of FieldDescriptorProto.Type; enumerations are int32 on the wire."""
_MESSAGE: Final = 11


def _declare(file: descriptor_pb2.FileDescriptorProto, name: str, fields: Mapping[str, list[Any]]) -> None:
    message = file.message_type.add(name=name)
    for field, (kind, number) in fields.items():
        label = 3 if kind[0] in "[{" else 1
        plain = kind.strip("[]{}")
        if kind.startswith("{"):
            # protobuf's map: a list of pairs, whose name ends with Entry.
            pair = message.nested_type.add(name=f"{field.title().replace('_', '')}Entry")
            pair.options.map_entry = True
            pair.field.add(name="key", number=1, type=9, label=1)
            pair.field.add(name="value", number=2, type=_MESSAGE, label=1, type_name=f".{_PACKAGE}.{plain}")
            plain = f"{name}.{pair.name}"
        added = message.field.add(name=field, number=number, label=label, type=_KINDS.get(plain, _MESSAGE))
        if plain not in _KINDS:
            added.type_name = f".{_PACKAGE}.{plain}"


def _classes() -> Mapping[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="tfplugin5.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _PROTOCOL["types"].items():
        _declare(file, name, fields)
    for method, parts in _PROTOCOL["methods"].items():
        for part, fields in parts.items():
            _declare(file, method + part.title(), fields)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)  # type: ignore[no-untyped-call]
    found = pool.FindFileByName(file.name)  # type: ignore[no-untyped-call]
    return {name: message_factory.GetMessageClass(each) for name, each in found.message_types_by_name.items()}


CLASSES: Final = _classes()
METHODS: Final = tuple(_PROTOCOL["methods"])


class Unknown:
    """A value that only the apply will have."""

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN: Final = Unknown()


def pack(value: Any) -> bytes:  # noqa: PLR0911 - a form each
    """The value in msgpack, where JSON has no form for an unknown: an extension of type 0 (zclconf/go-cty, msgpack)."""
    match value:
        case None:
            return b"\xc0"
        case Unknown():
            return b"\xd4\x00\x00"
        case bool():
            return b"\xc3" if value else b"\xc2"
        case int() if -(1 << 63) <= value < 1 << 63:
            return b"\xd3" + struct.pack(">q", value)
        case int() | float():
            return b"\xcb" + struct.pack(">d", value)
        case str():
            text = value.encode()
            return b"\xdb" + struct.pack(">I", len(text)) + text
        case Mapping():
            pairs = b"".join(pack(str(key)) + pack(item) for key, item in value.items())
            return b"\xdf" + struct.pack(">I", len(value)) + pairs
    return b"\xdd" + struct.pack(">I", len(value)) + b"".join(map(pack, value))


def unpack(data: bytes) -> Any:
    """The value of a message."""
    return _Reader(data).value() if data else None


_NUMBERS: Final = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i",
    0xD3: ">q",
}  # fmt: skip
_FIXED: Final = {0xC0: None, 0xC2: False, 0xC3: True}
_SIZES: Final = (">B", ">H", ">I")


class _Reader:
    """Reads msgpack (github.com/msgpack/msgpack, spec.md)."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def _take(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def value(self) -> Any:  # noqa: PLR0911 - a form each
        code = self._take(1)[0]
        if code < 0x80:
            return code
        if code >= 0xE0:
            return code - 0x100
        if code in _FIXED:
            return _FIXED[code]
        if code in _NUMBERS:
            number = self._number(_NUMBERS[code])
            return int(number) if isinstance(number, float) and number.is_integer() else number
        if code < 0x90 or code in (0xDE, 0xDF):
            return {
                self.value(): self.value()
                for _ in range(code & 15 if code < 0x90 else self._number(_SIZES[code - 0xDD]))
            }
        if code < 0xA0 or code in (0xDC, 0xDD):
            return [self.value() for _ in range(code & 15 if code < 0xA0 else self._number(_SIZES[code - 0xDB]))]
        if code < 0xC0 or 0xD9 <= code <= 0xDB:
            return self._take(code & 31 if code < 0xC0 else self._number(_SIZES[code - 0xD9])).decode(errors="replace")
        # Extensions: an unknown, or one of which something is known.
        self._take(1 + (1 << code - 0xD4) if code >= 0xD4 else self._number(_SIZES[code - 0xC7]) + 1)
        return UNKNOWN
