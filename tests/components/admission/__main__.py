"""`python -m tests.components.admission` writes the list of docs/guides/admission.md."""

from tests.components.admission.guide import GUIDE, PART, listing
from tests.support.generated import ADMISSION, write_part

write_part(GUIDE, PART, listing(), ADMISSION)
