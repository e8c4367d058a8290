"""The rule for Experiments of Katib: how many trials they make, and that each trial is what the Experiment shows.

Katib's controller creates whatever the template of a trial says, with its own permissions, after it has put values into
the template's text. So the template is in the Experiment, is a job, and no value ends the text that it is put into. The
rules for jobs then judge each trial when it is created.
"""

from __future__ import annotations

from typing import Final

from components.addons.katib import TRIALS
from components.admission import kinds
from components.admission.rule import Rule, listed, literal
from components.admission.templates import O
from components.workloads.sweep import MAX_TRIALS

_TEMPLATE: Final = f"{O}.spec.trialTemplate"
_TRIAL: Final = f"{_TEMPLATE}.trialSpec"
_WRITTEN: Final = f"(has({_TEMPLATE}) && has({_TRIAL}))"
_COLLECTOR: Final = f"{O}.spec.metricsCollectorSpec"


def _kind(name: str) -> str:
    kind, version, group = name.split(".", 2)
    return f"{group}/{version} {kind}"


KINDS: Final = tuple(_kind(name) for name in TRIALS)  # version and kind of each job that Katib watches
_OTHER: Final = (
    f"!has({_TRIAL}.apiVersion) || !has({_TRIAL}.kind) || "
    f"!(string({_TRIAL}.apiVersion) + ' ' + string({_TRIAL}.kind) in {listed('trialKinds')})"
)
_ENDS_TEXT: Final = "string(v).matches(" + literal(r'["\\]') + ")"
_VALUES: Final = "has(p.feasibleSpace) && has(p.feasibleSpace.list)"


def bounds(maximum: int) -> Rule:
    """An Experiment has a bounded number of trials, at most `maximum` at once."""
    wrong = {
        f"!has({O}.spec.maxTrialCount) || {O}.spec.maxTrialCount > {MAX_TRIALS}": "maxTrialCount",
        f"has({O}.spec.parallelTrialCount) && {O}.spec.parallelTrialCount > {maximum}": "parallelTrialCount",
        f"has({O}.spec.resumePolicy) && !({O}.spec.resumePolicy in ['', 'Never'])": "resumePolicy",
        f"has({O}.spec.nasConfig)": "nasConfig",
        f"!{_WRITTEN}": "trialTemplate.trialSpec",
        f"{_WRITTEN} && ({_OTHER})": "the kind of trialTemplate.trialSpec",
        f"{_WRITTEN} && has({_TRIAL}.metadata) && {_TRIAL}.metadata.exists(k, !(k in ['annotations', 'labels']))": (
            "trialTemplate.trialSpec.metadata"
        ),
        f"has({_TEMPLATE}) && has({_TEMPLATE}.trialParameters) && {_TEMPLATE}.trialParameters.exists(p, "
        "has(p.reference) && p.reference.contains('Annotations'))": "trialTemplate.trialParameters.reference",
        f"has({O}.spec.parameters) && {O}.spec.parameters.exists(p, {_VALUES} && p.feasibleSpace.list.exists(v, "
        f"{_ENDS_TEXT}))": "parameters.feasibleSpace.list",
        f"has({_COLLECTOR}) && has({_COLLECTOR}.collector) && has({_COLLECTOR}.collector.customCollector)": (
            "metricsCollectorSpec.collector.customCollector"
        ),
    }
    return Rule(
        name="experiment-bounds",
        kinds=(kinds.EXPERIMENT,),
        parameters={"trialKinds": ",".join(KINDS)},
        variables={"wrong": " + ".join(f"({condition} ? ['{text}'] : [])" for condition, text in wrong.items())},
        expression="variables.wrong.size() == 0",
        found="variables.wrong",
        names={"max_trials": MAX_TRIALS, "maximum": maximum, "kinds": ", ".join(each.split()[1] for each in KINDS)},
    )
