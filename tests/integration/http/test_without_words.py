"""Questions that have no words, over both engines: refused as empty, or answered by nothing; never a failure."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.integration.http.doors import Door, document
from tests.integration.http.material import POSTS, refused

PAGES = [document("retry", "The job is retried three times."), document("marks", "……\n\n？！ 🙂 ——")]
# White space as Unicode has it, but none of the control characters that no question may hold.
BLANKS = " \t\n\u00a0\u2003\u2009\u202f\u205f\u3000"
MARKS = "？！。，、；：…—·~@#%^&*()[]{}<>/\\|\"'`+-=_🙂👍🏳️‍🌈∑→"


@pytest.fixture(scope="module")
def published(door: Door) -> Door:
    door.publish("without-words", PAGES)
    return door


@pytest.mark.parametrize("path", POSTS)
def test_a_question_of_white_space_is_no_question(published: Door, path: str) -> None:
    for text in ("", " ", BLANKS, *BLANKS, *(blank * 500 for blank in BLANKS)):
        refused(published.post(published.who("ann"), path, "without-words", text), 400, "INVALID_REQUEST")


@pytest.mark.parametrize("path", POSTS)
@settings(max_examples=25, deadline=None, database=None)
@given(text=st.text(MARKS + BLANKS, min_size=1, max_size=12).filter(str.strip))
def test_a_question_of_marks_is_asked_and_proves_nothing(published: Door, path: str, text: str) -> None:
    response = published.post(published.who("ann"), path, "without-words", text)
    assert response.status_code == 200, response.text
    told = response.get_json()
    if path == "/v1/search":
        assert told["degraded"] == [], "a leg without a direction is no leg that failed"
    if path == "/v1/answers":
        assert (told["status"], told["claims"]) == ("no_answer", [])
    if path == "/api/chat":
        assert "three times" not in response.text
