"""The certificates of the sandbox, and the kubeconfig of its clusters."""

import base64
import datetime
import ipaddress
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from sandbox.files import write_atomically
from sandbox.ports import ClusterEndpoint

VALIDITY = datetime.timedelta(days=365)
CLOCK_SKEW = datetime.timedelta(days=2)
"""The clock may be set back while the sandbox runs, by the hours of a time zone (UTC+14 to UTC-12) after a resume."""
HOSTS = ("127.0.0.1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
ADMIN_GROUP = "system:masters"
TOKENS = "tokens.csv"
SERVICE_ACCOUNT_KEY = "service-account.key"


@dataclass(frozen=True)
class KeyPair:
    """Paths of a certificate and its private key, both PEM."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class Pki:
    """Paths of the files that a control plane reads, and the admin's token.

    The store has an authority of its own: whoever may sign a certificate in a cluster can't read all clusters with it.
    """

    authority: KeyPair
    store_authority: KeyPair
    store: KeyPair
    serving: KeyPair
    service_account_key: Path
    tokens: Path
    admin_token: str

    @property
    def authority_text(self) -> str:
        """The authority's certificate as PEM."""
        return self.authority.certificate.read_text(encoding="ascii")

    @property
    def certificate_authority(self) -> str:
        """The authority's certificate in the form that EKS returns: base64 of the PEM text."""
        return base64.b64encode(self.authority_text.encode()).decode()


def read_pki(directory: Path) -> Pki:
    """What `create_pki` has made in the directory."""

    def pair(name: str) -> KeyPair:
        return KeyPair(directory / f"{name}.crt", directory / f"{name}.key")

    token, key = read_admin_token(directory), directory / SERVICE_ACCOUNT_KEY
    return Pki(pair("ca"), pair("etcd-ca"), pair("etcd"), pair("kube-apiserver"), key, directory / TOKENS, token)


def create_pki(directory: Path) -> Pki:
    """Create all files in the directory, replacing old ones; only its owner may read it."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    authority = _create_authority(directory, "ca")
    store_authority = _create_authority(directory, "etcd-ca")
    # One certificate for both ends: etcd's JSON gateway calls etcd with the serving certificate (etcd 3.5,
    # embed/serve.go).
    both = (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH)
    store = issue(store_authority, "etcd", HOSTS, both)
    service_account_key = directory / SERVICE_ACCOUNT_KEY
    _write(service_account_key, _pem(ec.generate_private_key(ec.SECP256R1())))
    token = secrets.token_hex(24)
    tokens = directory / TOKENS
    _write(tokens, f'{token},admin,admin,"{ADMIN_GROUP}"\n'.encode())
    serving = issue(authority, "kube-apiserver", HOSTS)
    return Pki(authority, store_authority, store, serving, service_account_key, tokens, token)


def read_admin_token(directory: Path) -> str:
    """The admin's token, from the files of `create_pki`."""
    return (directory / TOKENS).read_text(encoding="ascii").partition(",")[0]


def issue(
    authority: KeyPair,
    name: str,
    hosts: Iterable[str],
    usages: Iterable[x509.ObjectIdentifier] = (ExtendedKeyUsageOID.SERVER_AUTH,),
) -> KeyPair:
    """A certificate for a server, written beside the authority's. Hosts are DNS names or IP addresses."""
    issuer = x509.load_pem_x509_certificate(authority.certificate.read_bytes())
    issuer_key = serialization.load_pem_private_key(authority.key.read_bytes(), password=None)
    if not isinstance(issuer_key, ec.EllipticCurvePrivateKey):
        msg = f"{authority.key} is not an ECDSA key"
        raise TypeError(msg)
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = (
        _builder(name, issuer.subject, key)
        .add_extension(x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False)
        .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(issuer_key, hashes.SHA256())
    )
    return _save(authority.key.parent, name, certificate, key)


def self_signed(hosts: Iterable[str]) -> tuple[str, str]:
    """A certificate that signs itself, for a server inside a cluster, and its key; both PEM text."""
    key = ec.generate_private_key(ec.SECP256R1())
    names = list(hosts)
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "slipway-sandbox")])
    certificate = (
        _builder("slipway-sandbox", issuer, key)
        .add_extension(x509.SubjectAlternativeName([_host(host) for host in names]), critical=False)
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM).decode(), _pem(key).decode()


def _create_authority(directory: Path, file: str) -> KeyPair:
    key = ec.generate_private_key(ec.SECP256R1())
    name = f"slipway-sandbox-{file}"
    certificate = (
        _builder(name, x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return _save(directory, file, certificate, key)


def _builder(name: str, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    # The clock by which TLS clients check the certificate.
    now = datetime.datetime.now(datetime.UTC)  # noqa: TID251
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + VALIDITY)
    )


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _save(directory: Path, name: str, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> KeyPair:
    pair = KeyPair(directory / f"{name}.crt", directory / f"{name}.key")
    _write(pair.certificate, certificate.public_bytes(serialization.Encoding.PEM))
    _write(pair.key, _pem(key))
    return pair


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        # "EC PRIVATE KEY": kube-apiserver 1.36 accepts no PKCS8 key for --service-account-key-file.
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )


def _write(path: Path, content: bytes) -> None:
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(content)


# The kubeconfig of the sandbox: a context for each running cluster, with the admin's token.

USER = "slipway-sandbox-admin"


def kubeconfig(clusters: Mapping[str, ClusterEndpoint], token: str) -> dict[str, Any]:
    """The document. The newest cluster, the last in the mapping, is the current context."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": list(clusters)[-1] if clusters else "",
        "clusters": [
            {"name": name, "cluster": {"server": at.server, "certificate-authority-data": at.certificate_authority}}
            for name, at in clusters.items()
        ],
        "users": [{"name": USER, "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": USER}} for name in clusters],
    }


def write_kubeconfig(path: Path, clusters: Mapping[str, ClusterEndpoint], token: str) -> None:
    """Replace the file in one step: a kubectl that reads it at the same moment sees the old or the new one."""
    write_atomically(path, yaml.safe_dump(kubeconfig(clusters, token), sort_keys=False))
