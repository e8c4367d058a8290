"""The certificates of models' HTTPS addresses: those that the settings name exist, are issued, and cover the domain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from botocore.exceptions import ClientError

from slipway.account.context import Context, failed, ok
from slipway.findings import Finding

_UNKNOWN: Final = "ResourceNotFoundException"


def check(context: Context) -> Iterator[Finding]:
    """Each ARN of `addons.kserve.certificateArn`; a load balancer is refused a certificate that is not issued."""
    settings = context.platform.addons.kserve
    for arn in settings.certificate_arn if settings is not None else ():
        short = arn.rpartition("/")[2]
        found = _certificate(context, arn)
        if found is None:
            fix = "request one in ACM, and set its ARN in addons.kserve.certificateArn"
            yield failed("certificate", f"{short} does not exist in {context.region}", fix)
            continue
        wanted = f"*.{settings.ingress_domain}" if settings is not None else ""
        names = [found["DomainName"], *found.get("SubjectAlternativeNames", ())]
        if found["Status"] != "ISSUED":
            fix = "create the DNS records that ACM asks for, or request another"
            yield failed("certificate", f"{short} is {found['Status']}", fix)
        elif wanted not in names:
            yield failed(
                "certificate", f"{short} is for {', '.join(dict.fromkeys(names))}", f"request one for {wanted} in ACM"
            )
        else:
            end = found.get("NotAfter")
            yield ok("certificate", f"{wanted}{f' until {end:%Y-%m-%d}' if end else ''}")


def _certificate(context: Context, arn: str) -> Mapping[str, Any] | None:
    try:
        answer: Mapping[str, Mapping[str, Any]] = context.client("acm").describe_certificate(CertificateArn=arn)
    except ClientError as error:
        if error.response["Error"]["Code"] == _UNKNOWN:
            return None
        raise
    return answer["Certificate"]
