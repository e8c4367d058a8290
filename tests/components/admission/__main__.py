"""`python -m tests.components.admission`: the list of docs/guides/admission.md."""

from tests.components.admission.guide import listing

print(listing())
