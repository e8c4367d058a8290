"""Probes by somebody who had not read the rules.

They come from what is known of Kubernetes, of its controllers and of AWS: the baseline of Pod Security, the CVEs that
Kubernetes lists as its design, MITRE ATT&CK for containers, and the checks of Prowler, Checkov and cfn-nag.
"""

from dataclasses import replace
from typing import Final

from spec import strict_yaml
from tests.adversary.independent.deputies import DEPUTIES
from tests.adversary.independent.examples import EXAMPLES
from tests.adversary.independent.exposure import EXPOSURE
from tests.adversary.independent.legitimate import LEGITIMATE
from tests.adversary.independent.platform import EXTRA, PLATFORM
from tests.adversary.independent.pods import PODS
from tests.adversary.independent.queueing import QUEUEING
from tests.adversary.independent.work import WORK

__all__ = ["ACCEPTED", "EXTRA", "REQUESTS"]

KNOWN: Final = strict_yaml.beside(__file__, "known")
ACCEPTED: Final = {act: reason for reason, acts in KNOWN.items() for act in acts}
"""Why each act that gets through is accepted."""
REQUESTS: Final = (
    *(
        replace(probe, accepted=ACCEPTED.get(probe.act, ""))
        for probe in (*PODS, *WORK, *PLATFORM, *QUEUEING, *DEPUTIES, *EXPOSURE)
    ),
    *(replace(probe, legitimate=True) for probe in (*LEGITIMATE, *EXAMPLES)),
)
