"""An AWS that answers as a test says: real boto3 clients, whose requests end before they are sent.

Arguments are validated by botocore as ever, and every answer is held against the operation's output shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import boto3
from botocore.validate import ParamValidator

Answer = Mapping[str, Any] | Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Error(Exception):
    """An error answer of AWS."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class _Http:
    def __init__(self, status_code: int) -> None:
        self.status_code = status_code


class FakeAws:
    """Clients by service.

    Args:
        region: Region of the clients.
        answers: By `service.Operation`: the answer, or a function of the operation's arguments that returns it or
            raises `Error`. Any other operation fails the test.
    """

    def __init__(self, region: str, answers: Mapping[str, Answer]) -> None:
        self._session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name=region)
        self._answers = answers
        self._clients: dict[str, Any] = {}
        self.asked: set[str] = set()

    def __call__(self, service: str) -> Any:
        """The client of a service."""
        if service not in self._clients:
            client = self._session.client(service)
            client.meta.events.register("provide-client-params.*.*", self._remember)
            client.meta.events.register("before-call.*.*", self._answer)
            self._clients[service] = client
        return self._clients[service]

    def _remember(self, params: Mapping[str, Any], context: dict[str, Any], **_: Any) -> None:
        context["arguments"] = dict(params)

    def _answer(self, model: Any, context: Mapping[str, Any], **_: Any) -> tuple[_Http, dict[str, Any]]:
        name = f"{model.service_model.service_name}.{model.name}"
        self.asked.add(name)
        assert name in self._answers, f"{name} was not expected"
        answer = self._answers[name]
        try:
            body = dict(answer(context["arguments"]) if callable(answer) else answer)
        except Error as error:
            return _Http(400), {"Error": {"Code": error.code, "Message": error.code}, "ResponseMetadata": {}}
        if model.output_shape is not None:
            problems = ParamValidator().validate(body, model.output_shape)
            assert not problems.has_errors(), f"{name}: {problems.generate_report()}"
        return _Http(200), body
