"""Formats of credentials, and the length below which a text has none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.evaluation.patterns import FORMS, SHORTEST, credentials


@pytest.mark.parametrize("form", FORMS)
@given(data=st.data())
def test_no_match_is_shorter_than_what_is_searched(form: str, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(FORMS[form], fullmatch=True))
    assert len(text) >= SHORTEST
    assert form in credentials(text)


def test_the_shortest_credential_is_found() -> None:
    assert list(credentials("xoxb-" + "0123456789")) == ["Slack token"]
    assert list(credentials("xoxb-" + "012345678")) == []
