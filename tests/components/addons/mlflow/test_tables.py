"""The database of a team is created once."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from components.addons.mlflow.tables import create, quoted


class Connection:
    """Records statements; knows the databases that exist."""

    def __init__(self, *existing: str) -> None:
        self.existing, self.statements = existing, list[str]()

    def execute(self, statement: str, values: dict[str, str] | None = None) -> Any:
        self.statements.append(statement)
        found = values is not None and values["name"] in self.existing
        return SimpleNamespace(first=lambda: (1,) if found else None)


@pytest.fixture(autouse=True)
def _sqlalchemy(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("sqlalchemy")
    module.text = str  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sqlalchemy", module)


def test_a_missing_database_is_created() -> None:
    connection = Connection("mlflow")
    assert create(connection, "mlflow_nlp")
    assert connection.statements[-1] == 'CREATE DATABASE "mlflow_nlp"'


def test_an_existing_database_is_left_as_it_is() -> None:
    connection = Connection("mlflow", "mlflow_nlp")
    assert not create(connection, "mlflow_nlp")
    assert len(connection.statements) == 1


def test_a_name_is_quoted() -> None:
    assert quoted('a"b') == '"a""b"'
