"""Lists are walked once, in order, whatever is unknown; what a caller may not see is not in them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from dshweb.access.callers import caller_for_user
from dshweb.access.models import Visibility
from dshweb.sessionlog.conversation import SHOWN_CHARS, window
from dshweb.sessionlog.filters import Filters
from dshweb.sessionlog.listing import sessions_page
from dshweb.sessionlog.models import Session
from dshweb.sessionlog.orders import SORTS
from dshweb.sessionlog.selectors import may_see_content
from dshweb.sessionlog.services import search
from dshweb.ui.tests.rows import make_log, make_messages, make_session

pytestmark = pytest.mark.django_db


def walk(caller, size, **filters):
    """All session ids of the list, page by page; and back again, which must give the same."""
    given = Filters.read(filters)
    page = sessions_page(caller, given, size=size)
    seen, pages = [row.session_id for row in page.rows], [page]
    while page.next:
        page = sessions_page(caller, given, after=page.next, size=size)
        seen += [row.session_id for row in page.rows]
        pages.append(page)
        assert len(pages) < 50, "the list does not end"
    back = list(pages[-1].rows)
    while page.previous:
        page = sessions_page(caller, given, before=page.previous, size=size)
        back = page.rows + back
    assert [row.session_id for row in back] == seen
    return seen


@pytest.mark.parametrize("size", [1, 2, 3, 50])
def test_paging_gives_every_session_once_newest_first_and_undated_last(people, size):
    now = timezone.now()
    for name, age in (("a", 3), ("b", 1), ("c", None), ("d", 1), ("e", None), ("f", 2)):
        make_session(people.team, name, last_at=None if age is None else now - timedelta(hours=age))
    make_session(people.other_team, "x")
    assert walk(caller_for_user(people.bob), size) == ["d", "b", "f", "a", "e", "c"]


@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("sort", SORTS)
def test_every_order_is_walked_once_in_both_directions_unknown_last(people, sort, size):
    now = timezone.now()
    for n, value in enumerate([3, None, 1, 3, None, 2, 3, 0]):
        known = value is not None
        make_session(
            people.team,
            f"s{n}",
            title=f"t~{value}" if known else "",
            last_at=now - timedelta(hours=value) if known else None,
            turns=value,
            tokens=value,
            attention=value,
            compactions=value or 0,
        )
    rows = {row.session_id: row for row in Session.unscoped.all()}
    seen = walk(caller_for_user(people.bob), size, sort=sort)
    assert sorted(seen) == sorted(rows)
    column, down = SORTS[sort].column.removeprefix("shown_"), SORTS[sort].down
    values = [getattr(rows[name], column) for name in seen]
    known = [value for value in values if value not in (None, "")]
    assert known == sorted(known, reverse=down)
    assert all(value in (None, "") for value in values[len(known) :])


@pytest.mark.parametrize("cursor", ["", "x", "~", "1~", "~x", "9" * 40 + "~1", "1~" + "9" * 40, "-5~3\x00", "~~"])
def test_a_cursor_that_cannot_be_read_is_the_first_page(people, cursor):
    make_session(people.team, "a", last_at=timezone.now())
    caller = caller_for_user(people.bob)
    assert [row.session_id for row in sessions_page(caller, after=cursor).rows] == ["a"]
    assert [row.session_id for row in sessions_page(caller, before=cursor).rows] == ["a"]


def test_a_title_that_may_not_be_seen_tells_nothing_by_its_place(people):
    people.team.content_visibility = Visibility.OWNER
    people.team.save()
    for name, title in (("a", "zebra"), ("b", "apple"), ("c", "middle")):
        make_session(people.team, name, title=title)
    make_session(people.team, "mine", people.vera, title="my own")
    caller = caller_for_user(people.vera)
    assert walk(caller, 1, sort="title") == ["mine", "a", "b", "c"]
    first = sessions_page(caller, Filters(sort="title"), size=2)
    assert "zebra" not in first.next
    assert walk(caller_for_user(people.alice), 9, sort="title") == ["b", "c", "mine", "a"]


def test_filters_narrow(people):
    make_session(people.team, "one", model="m1", status="damaged", title="Fix the port")
    make_session(people.team, "two", title="Rename", model="m2", cwd="/srv/other", compactions=1)
    caller = caller_for_user(people.bob)
    assert (
        walk(caller, 9, model="m1")
        == walk(caller, 9, status="damaged")
        == walk(caller, 9, q="PORT ".strip())
        == ["one"]
    )
    assert walk(caller, 9, compacted="1") == walk(caller, 9, q="other") == walk(caller, 9, q="two") == ["two"]


@pytest.mark.parametrize(
    ("who", "visibility", "owner", "seen"),
    [
        ("vera", Visibility.TEAM, None, True),
        ("vera", Visibility.OWNER, None, False),
        ("vera", Visibility.OWNER, "vera", True),
        ("bob", Visibility.OWNER, "vera", False),
        ("alice", Visibility.OWNER, "vera", True),
        ("mallory", Visibility.TEAM, None, False),
        ("mallory", Visibility.OWNER, "mallory", False),
    ],
)
def test_who_sees_content(people, who, visibility, owner, seen):
    people.team.content_visibility = visibility
    people.team.save()
    session = make_session(people.team, owner=getattr(people, owner) if owner else None)
    caller = caller_for_user(getattr(people, who))
    assert may_see_content(caller, session) is seen
    if who != "mallory":
        assert bool(walk(caller, 9, q="Two data")) is seen


def positions(found):
    return [one.row.position for one in found.flow]


def test_windows_of_messages_join_without_gap_or_overlap(people):
    log = make_log(make_session(people.team))
    make_messages(log, [("user/message", "user", True, str(n)) for n in range(10)])
    first = window(log, [], start=0, size=4)
    second = window(log, [], start=first.on, size=4)
    third = window(log, [], start=second.on, size=4)
    assert positions(first) + positions(second) + positions(third) == list(range(10))
    assert (first.back, second.back, third.back, third.on) == (None, 0, 4, None)
    assert positions(window(log, [], end=True, size=4)) == [6, 7, 8, 9]


def test_a_window_starts_at_a_seq_or_the_next_one(people):
    log = make_log(make_session(people.team))
    make_messages(log, [("user/message", "user", True, str(n)) for n in range(5)], first_seq=20)
    for seq, first in ((22, 22), (3, 20), (99, 20)):
        assert window(log, [], seq=seq).flow[0].row.seq == first


def test_a_window_carries_the_beginning_of_a_body_only(people):
    log = make_log(make_session(people.team))
    make_messages(log, [("tool/result", "", False, "x" * 100_000)])
    (one,) = window(log, []).flow
    assert len(one.row.shown) == SHOWN_CHARS
    assert one.row.stored == 100_000
    assert one.more
    assert "text" in one.row.get_deferred_fields()


def test_sessions_are_found_by_what_was_said_by_those_who_may_read_it(people):
    said = {}
    for team, name, owner in ((people.team, "ours", people.vera), (people.other_team, "theirs", None)):
        log = make_log(make_session(team, name, owner=owner))
        make_messages(log, [("user/message", "user", True, "please rename the 端口 setting")])
        said |= {row.pk: row.text for row in log.messages.all()}
    search.add([(pk, search.words(text)) for pk, text in said.items()])
    assert walk(caller_for_user(people.bob), 9, q="setting rename") == ["ours"]
    assert walk(caller_for_user(people.bob), 9, q="端口") == ["ours"]
    assert walk(caller_for_user(people.bob), 9, q='rename" OR "x') == []
    assert walk(caller_for_user(people.mallory), 9, q="rename") == ["theirs"]
    people.team.content_visibility = Visibility.OWNER
    people.team.save()
    assert walk(caller_for_user(people.bob), 9, q="rename") == []
    assert walk(caller_for_user(people.vera), 9, q="rename") == ["ours"]
