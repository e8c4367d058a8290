"""Keeps files with a database password in sync with Secrets Manager. A sidecar of MLflow and Kubeflow Pipelines, with
MLflow's image and the identity of the pod.

RDS rotates the password every seven days. libpq reads the file at each new connection (PostgreSQL documentation, "The
Password File"), so nothing restarts. The file is in memory, and the password is stored nowhere else.

In the pod: `python password_file.py <secret ARN> <file>` for libpq, or `<secret ARN> <folder> <template>...` for files
that are like templates but for the password. It imports only what that image has.
"""

import json
import signal
import sys
import time
from pathlib import Path
from typing import Any

PLACE = "${password}"
"""Where a template has the password, within double quotes."""
SECONDS = 60
"""Seconds between polls; for that long after a rotation, new connections may be refused and are retried."""


def line(secret: str) -> str:
    """The only line of the file, `host:port:database:user:password`, for any host.

    Args:
        secret: The secret as RDS writes it: JSON with `username` and `password`.
    """
    known = json.loads(secret)
    return ":".join(["*", "*", "*", escaped(known["username"]), escaped(known["password"])]) + "\n"


def escaped(field: str) -> str:
    """A field with its colons and backslashes escaped."""
    return field.replace("\\", "\\\\").replace(":", "\\:")


def filled(template: str, secret: str) -> str:
    """A template with the password, escaped as in JSON; the text format of Protocol Buffers has the same escapes."""
    return template.replace(PLACE, json.dumps(json.loads(secret)["password"])[1:-1])


def write(path: Path, text: str) -> None:
    """Replace a file atomically, readable only by its owner: libpq ignores a file that others can read."""
    fresh = path.with_suffix(".new")
    fresh.touch(mode=0o600)
    fresh.write_text(text)
    fresh.replace(path)


def look(client: Any, arn: str, path: Path, templates: tuple[str, ...] = ()) -> str:
    """Fetch the secret and write the files; return the error, or an empty string. On error the old files are kept."""
    try:
        secret = client.get_secret_value(SecretId=arn)["SecretString"]
        if not templates:
            write(path, line(secret))
        for template in map(Path, templates):
            write(path / template.name, filled(template.read_text(), secret))
    except Exception as error:
        return f"{type(error).__name__}: the password was not read"
    return ""


def main(arn: str, path: str, *templates: str) -> None:
    """Poll forever. PID 1 of a container ignores SIGTERM unless it installs a handler."""
    import boto3  # type: ignore[import-untyped,unused-ignore]  # noqa: PLC0415 - tests of the rest do without

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    client = boto3.client("secretsmanager")
    while True:
        wrong = look(client, arn, Path(path), templates)
        if wrong:
            sys.stderr.write(f"{wrong}\n")
        time.sleep(SECONDS)


if __name__ == "__main__":
    main(*sys.argv[1:])
