"""Creates a team's database and its tables. An init container of MLflow, with its image.

In the pod: `python tables.py <existing database>`; libpq's environment variables have the rest, `PGDATABASE` the team's
database. It imports only what that image has.
"""

import os
import sys
from typing import Any

LOCK = 7215
"""Advisory lock with which servers that start together take turns."""


def create(connection: Any, database: str) -> bool:
    """Create a database unless it exists; return whether it was created.

    Args:
        connection: A connection of SQLAlchemy in autocommit mode: a database can't be created in a transaction.
        database: Its name.
    """
    from sqlalchemy import text  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - in the image

    known = text("SELECT 1 FROM pg_database WHERE datname = :name")
    if connection.execute(known, {"name": database}).first() is not None:
        return False
    connection.execute(text(f"CREATE DATABASE {quoted(database)}"))
    return True


def quoted(identifier: str) -> str:
    """An identifier in PostgreSQL's quotes."""
    return '"' + identifier.replace('"', '""') + '"'


def main(existing: str) -> None:
    """Create and migrate, one server at a time."""
    from mlflow.store.db import utils  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - in the image
    from sqlalchemy import (  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - in the image
        create_engine,
        text,
    )

    first = create_engine(f"postgresql+psycopg2:///{existing}", isolation_level="AUTOCOMMIT")
    with first.connect() as connection:
        connection.execute(text(f"SELECT pg_advisory_lock({LOCK})"))
        create(connection, os.environ["PGDATABASE"])
        utils._initialize_tables(utils.create_sqlalchemy_engine_with_retry("postgresql+psycopg2://"))


if __name__ == "__main__":
    main(*sys.argv[1:])
