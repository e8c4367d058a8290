"""`python -m tests.slipway.fit` writes the tables of docs/guides/fit-accuracy.md."""

from tests.slipway.fit.published import GUIDE, KINDS, table
from tests.support.generated import FIT, write_part

for kind in KINDS:
    write_part(GUIDE, kind, table(kind), FIT)
