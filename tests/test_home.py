"""The start page, for a newcomer and for every bundled study."""

import pytest

from app import bundled, open_page
from csmd_core.bundled import bundled_names


def test_a_newcomer_sees_a_study_its_best_panel_and_three_ways_in():
    app = open_page()
    assert app.title[0].value == "Which tests should the next patient get?"
    assert [b.label for b in app.button][:3] == [
        "Explore a study", "Teach with a live run", "Plan a budget",
    ]  # fmt: skip
    assert [m.value for m in app.metric] == ["CA$23.61", "23.4%"]
    assert "Weak dominance holds" in app.sidebar.markdown[-1].value


@pytest.mark.parametrize("name", bundled_names())
def test_every_bundled_study(name):
    app = open_page(study=bundled(name))
    assert len(app.metric) == 2
