"""Admission rules for workloads of teams, enforced by the API server with ValidatingAdmissionPolicies."""

from components.admission.admission import Admission, AdmissionArgs, rules
from components.admission.context import StackContext
from components.admission.rule import Rule

__all__ = ["Admission", "AdmissionArgs", "Rule", "StackContext", "rules"]
