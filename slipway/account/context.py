"""What each check of an account gets: the stack's settings, its backend, and clients of AWS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from slipway.engine.backend import Backend
from slipway.findings import Finding, Level
from spec.settings.platform import Platform

Client = Callable[[str], Any]
"""A boto3 client of a service, in the stack's region."""


@dataclass(frozen=True)
class Context:
    """The account that a stack is meant for, seen with the caller's credentials."""

    platform: Platform
    client: Client
    backend: Backend

    @property
    def region(self) -> str:
        """The stack's region."""
        return self.platform.account.region

    def pages(self, service: str, operation: str, key: str, **arguments: Any) -> Iterator[Any]:
        """The entries below `key` of every page of an operation."""
        for page in self.client(service).get_paginator(operation).paginate(**arguments):
            yield from page.get(key, ())


def ok(what: str, state: str) -> Finding:
    """Nothing to do."""
    return Finding(Level.OK, what, state)


def note(what: str, state: str, fix: str = "") -> Finding:
    """Worth knowing."""
    return Finding(Level.NOTE, what, state, fix)


def failed(what: str, state: str, fix: str) -> Finding:
    """`pulumi up` would fail, or come up without working."""
    return Finding(Level.FAILED, what, state, fix)
