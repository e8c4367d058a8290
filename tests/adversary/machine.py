"""Asks the servers of a sandbox as a page in a browser, or as another user of the machine."""

import http.client
import os
import shutil
import ssl
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from sandbox.aws.moto.server import MotoServer
from tests.adversary.independent.local import BUCKETS
from tests.adversary.probe import Visit
from tests.sandbox.plane import CLUSTER, ControlPlane
from tests.support.patience import SECONDS

NOBODY: Final = 65534
REFUSED: Final = (400, 401, 403, 404)
SCRIPT: Final = """\
exec 3<>/dev/tcp/127.0.0.1/$1 || exit 1
printf 'GET / HTTP/1.0\\r\\nHost: 127.0.0.1:%s\\r\\nAuthorization: %s\\r\\n\\r\\n' "$1" "$2" >&3
read -r -t 30 status <&3
[[ $status == *200* ]] || exit 1
"""


def ask(probe: Visit, plane: ControlPlane, moto: MotoServer, folder: Path) -> str:
    """How the request is refused; empty if it is answered."""
    return {"aws": _of_aws, "api": _of_api, "etcd": _of_etcd, "files": _of_files, "user": _of_another_user}[
        probe.server
    ](probe, plane, moto, folder)


def _of_aws(probe: Visit, _: ControlPlane, moto: MotoServer, __: Path) -> str:
    headers = dict(probe.headers)
    headers["Host"] = f"{headers.get('Host', '127.0.0.1')}:{moto.port}"
    return _status(http.client.HTTPConnection("127.0.0.1", moto.port, timeout=SECONDS), probe, headers)


def _of_api(probe: Visit, plane: ControlPlane, _: MotoServer, __: Path) -> str:
    endpoint = plane.pool.get(CLUSTER)
    assert endpoint is not None
    return _over_tls(probe, endpoint.server)


def _of_etcd(probe: Visit, plane: ControlPlane, _: MotoServer, __: Path) -> str:
    try:
        return _over_tls(probe, plane.etcd.url)
    except (ssl.SSLError, ConnectionError) as error:
        return str(error)


def _of_files(_: Visit, __: ControlPlane, ___: MotoServer, folder: Path) -> str:
    """Keys and kubeconfigs that others may read."""
    secret = [path for path in folder.rglob("*") if path.is_file() and _private(path)]
    assert secret, "the plane has no key"
    open_to_others = [path for path in secret if _reachable(path, folder)]
    return "" if open_to_others else f"{len(secret)} files are readable for their owner only"


def _of_another_user(_: Visit, __: ControlPlane, moto: MotoServer, ___: Path) -> str:
    bash = shutil.which("bash")
    if os.getuid() != 0 or bash is None:
        return "only root starts a process of another user"
    done = subprocess.run([bash, "-c", SCRIPT, "-", str(moto.port), BUCKETS], user=NOBODY, cwd="/", check=False)
    return "refused" if done.returncode else ""


def _private(path: Path) -> bool:
    return path.suffix in {".key", ".kubeconfig"} or b"PRIVATE KEY" in path.read_bytes()[:4096]


def _reachable(path: Path, folder: Path) -> bool:
    parents = [one for one in path.parents if one == folder or folder in one.parents]
    return bool(path.stat().st_mode & 0o044) and all(one.stat().st_mode & 0o011 for one in parents)


def _over_tls(probe: Visit, url: str) -> str:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    where = urlsplit(url)
    connection = http.client.HTTPSConnection(where.hostname or "", where.port, timeout=SECONDS, context=context)
    return _status(connection, probe, dict(probe.headers))


def _status(connection: http.client.HTTPConnection, probe: Visit, headers: Mapping[str, str]) -> str:
    try:
        connection.putrequest(probe.method, probe.path, skip_host="Host" in headers)
        for name, text in headers.items():
            connection.putheader(name, text)
        connection.endheaders()
        status = connection.getresponse().status
        return str(status) if status in REFUSED else ""
    finally:
        connection.close()
