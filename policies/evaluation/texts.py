"""What user data of nodes contains: base64, MIME parts, NodeConfigs."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from email import message_from_string
from typing import Any

import yaml

from spec import strict_yaml

_NODE_CONFIG = "application/node.eks.aws"


def decoded(text: str) -> str:
    """The decoded text: user data is base64 in a launch template, and plain text in an EC2NodeClass."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return text


def parts(text: str) -> Iterator[tuple[str, str]]:
    """Content type and text of each part; user data that is not MIME multipart is one part."""
    message = message_from_string(text)
    if not message.is_multipart():
        yield message.get_content_type(), text
        return
    for part in message.walk():
        payload = part.get_payload()
        if isinstance(payload, str):
            yield part.get_content_type(), payload


def kubelet(text: str) -> Iterator[tuple[str, Any]]:
    """Settings of the kubelet in all NodeConfigs: keys of the configuration, and flags with their dashes."""
    for kind, part in parts(text):
        if kind != _NODE_CONFIG and "node.eks.aws/" not in part:
            continue
        settings = _spec(part).get("kubelet")
        if isinstance(settings, Mapping):
            yield from _flat(settings.get("config"))
            yield from _flags(settings.get("flags"))


def _spec(part: str) -> Mapping[str, Any]:
    try:
        document = strict_yaml.one(part)
    except yaml.YAMLError:
        return {}
    spec = document.get("spec") if isinstance(document, Mapping) else None
    return spec if isinstance(spec, Mapping) else {}


def _flat(config: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(config, Mapping):
        for key, value in config.items():
            yield from _flat(value, f"{above}.{key}" if above else str(key))
    elif above:
        yield above, config


def _flags(flags: Any) -> Iterator[tuple[str, Any]]:
    for flag in flags if isinstance(flags, list) else []:
        name, _, value = str(flag).lstrip("-").partition("=")
        yield f"--{name}", strict_yaml.one(value) if value else True
