"""Probes by somebody who had not read the rules: their rate is reported by itself.

They come from what is known of Kubernetes, of its controllers and of AWS: the baseline of Pod Security, the CVEs that
Kubernetes lists as its design, MITRE ATT&CK for containers, and the checks of Prowler, Checkov and cfn-nag.
"""

from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

from tests.adversary.changes import listed
from tests.adversary.independent.cloud import CLOUD
from tests.adversary.independent.commits import COMMITS
from tests.adversary.independent.deputies import DEPUTIES
from tests.adversary.independent.examples import EXAMPLES
from tests.adversary.independent.exposure import EXPOSURE
from tests.adversary.independent.identity import IDENTITY
from tests.adversary.independent.known import ACCEPTED, GAPS
from tests.adversary.independent.legitimate import LEGITIMATE as WORK_THAT_GOES_ON
from tests.adversary.independent.local import LOCAL
from tests.adversary.independent.objects import DECLARED
from tests.adversary.independent.platform import EXTRA, PLATFORM
from tests.adversary.independent.pods import PODS
from tests.adversary.independent.queueing import QUEUEING
from tests.adversary.independent.rbac import TAKEOVERS
from tests.adversary.independent.upkeep import ADD_ON, SETTINGS
from tests.adversary.independent.work import WORK
from tests.adversary.probe import INDEPENDENT, Probe

Kind = TypeVar("Kind", bound=Probe)
__all__ = ["CHANGES", "COMMITTED", "EXTRA", "LEGITIMATE", "REQUESTS", "VISITS"]


def of_this_set(probes: tuple[Kind, ...], *, legitimate: bool = False) -> tuple[Kind, ...]:
    return tuple(
        replace(
            probe, origin=INDEPENDENT, legitimate=legitimate,
            gap=GAPS.get(probe.act, ""), accepted=ACCEPTED.get(probe.act, ""),
        )
        for probe in probes
    )  # fmt: skip


REQUESTS: Final = of_this_set((*PODS, *WORK, *PLATFORM, *QUEUEING, *DEPUTIES, *EXPOSURE))
CHANGES: Final = (
    *of_this_set((*IDENTITY, *CLOUD, *DECLARED, *TAKEOVERS, *listed(Path(__file__).with_name("changes.yaml")))),
    *of_this_set(ADD_ON, legitimate=True),
)
COMMITTED: Final = (*of_this_set(COMMITS), *of_this_set(SETTINGS, legitimate=True))
VISITS: Final = of_this_set(LOCAL)
LEGITIMATE: Final = of_this_set((*WORK_THAT_GOES_ON, *EXAMPLES), legitimate=True)
