"""Keeps a password file of PostgreSQL as Secrets Manager has it. Runs beside MLflow, in its image and as its identity.

RDS changes the password every seven days. libpq reads the file at each new connection (PostgreSQL documentation, "The
Password File"), so nothing restarts. The file is in memory, and nothing else ever holds the password.

In the pod: `python password_file.py <secret ARN> <file>`. It stands alone: no import but of what that image has.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path
from typing import Any

SECONDS = 60
"""Between two looks; for that long after a change, new connections may be refused and are tried again."""


def line(secret: str) -> str:
    """The file's one line, `host:port:database:user:password`, for any host.

    Args:
        secret: The secret as RDS writes it: JSON with `username` and `password`.
    """
    known = json.loads(secret)
    return ":".join(["*", "*", "*", escaped(known["username"]), escaped(known["password"])]) + "\n"


def escaped(field: str) -> str:
    """A field with its colons and backslashes escaped."""
    return field.replace("\\", "\\\\").replace(":", "\\:")


def write(path: Path, text: str) -> None:
    """Replace the file in one step, for its owner alone: libpq ignores one that others may read."""
    fresh = path.with_suffix(".new")
    fresh.touch(mode=0o600)
    fresh.write_text(text)
    fresh.replace(path)


def look(client: Any, arn: str, path: Path) -> str:
    """Fetch the secret and write the file; what went wrong, or nothing. A file that stands stays."""
    try:
        write(path, line(client.get_secret_value(SecretId=arn)["SecretString"]))
    except Exception as error:
        return f"{type(error).__name__}: the password was not read"
    return ""


def main(arn: str, path: str) -> None:
    """Look for ever. The first process of a container is deaf to SIGTERM unless it says otherwise."""
    import boto3  # type: ignore[import-untyped,unused-ignore]  # noqa: PLC0415 - tests of the rest do without

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    client = boto3.client("secretsmanager")
    while True:
        wrong = look(client, arn, Path(path))
        if wrong:
            sys.stderr.write(f"{wrong}\n")
        time.sleep(SECONDS)


if __name__ == "__main__":
    main(*sys.argv[1:])
