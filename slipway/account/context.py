"""What each check of an account gets and answers: the settings, the backend, clients of AWS; findings."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from slipway.engine.backend import Backend
from spec.errors import fail
from spec.settings.platform import Platform

# What `slipway doctor` reports: one line of state, and how to fix it.


class Level(Enum):
    """What a finding means."""

    OK = "ok"
    NOTE = "note"  # worth knowing; nothing fails because of it
    FAILED = "FAILED"
    """The command that follows fails until this is fixed: `slipway up STACK --sandbox`, or with `--aws` the `up` on
    AWS."""


@dataclass(frozen=True)
class Diagnosis:
    """One line of the report."""

    level: Level
    what: str
    state: str
    fix: str = ""


# What each check of an account gets: the stack's settings, its backend, and clients of AWS.


Client = Callable[[str], Any]  # a boto3 client of a service, in the stack's region


def session(region: str, credentials: Mapping[str, str] | None = None, endpoint: str | None = None) -> Client:
    """boto3 clients by service, each created once.

    Args:
        credentials: Variables of a session, as an SDK reads them; by default the caller's own credentials.
        endpoint: Address of an emulator.
    """
    # Here, because it takes 0.3 s, and many commands need AWS in some cases only.
    import boto3  # noqa: PLC0415

    keys = credentials or {}
    made = boto3.Session(
        aws_access_key_id=keys.get("AWS_ACCESS_KEY_ID"),
        aws_secret_access_key=keys.get("AWS_SECRET_ACCESS_KEY"),
        aws_session_token=keys.get("AWS_SESSION_TOKEN"),
        region_name=region,
    )
    return cache(lambda service: made.client(service, endpoint_url=endpoint))


def late(make: Callable[[], Client]) -> Client:
    """Clients that are made when the first is needed."""
    made: list[Client] = []

    def client(service: str) -> object:
        if not made:
            made.append(make())
        return made[0](service)

    return client


@contextmanager
def reachable() -> Iterator[None]:
    """Turn an error of AWS into one for the user."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - as in `session`

    try:
        yield
    except (BotoCoreError, ClientError) as error:
        fail(f"AWS does not answer ({error}): log in first (`aws sso login`, AWS_PROFILE, ...)", error)


@dataclass(frozen=True)
class AccountContext:
    """The account that a stack is meant for, seen with the caller's credentials."""

    platform: Platform
    client: Client
    backend: Backend

    @property
    def region(self) -> str:
        """The stack's region."""
        return self.platform.account.region

    def look_up(
        self, service: str, operation: str, missing: str | tuple[str, ...], **arguments: Any
    ) -> Mapping[str, Any] | None:
        """The answer about one object; None where AWS says that it is not there, with a code that begins so."""
        from botocore.exceptions import ClientError  # noqa: PLC0415 - as in `session`

        try:
            answer: Mapping[str, Any] = getattr(self.client(service), operation)(**arguments)
        except ClientError as error:
            if error.response["Error"]["Code"].startswith(missing):
                return None
            raise
        return answer

    def pages(self, service: str, operation: str, key: str, **arguments: Any) -> Iterator[Any]:
        """The entries below `key` of every page of an operation."""
        for page in self.client(service).get_paginator(operation).paginate(**arguments):
            yield from page.get(key, ())


def ok(what: str, state: str) -> Diagnosis:
    """Nothing to do."""
    return Diagnosis(Level.OK, what, state)


def note(what: str, state: str, fix: str = "") -> Diagnosis:
    """Worth knowing."""
    return Diagnosis(Level.NOTE, what, state, fix)


def failed(what: str, state: str, fix: str) -> Diagnosis:
    """`pulumi up` would fail, or come up without working."""
    return Diagnosis(Level.FAILED, what, state, fix)
