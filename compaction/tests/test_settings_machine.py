"""A state machine over revisions: writers with old and new views save, unset, import; the model says what must stand."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from compaction.core.document import Op, normalised, requires_reload
from compaction.core.keys import RETENTION
from compaction.core.policy import resolve
from compaction.core.problem import InvalidSettings
from compaction.models import EngineSnapshot, Profile, SettingsRevision
from compaction.selectors import reload_needed
from compaction.services import engine
from compaction.services.profiles import default_of
from compaction.services.settings import Conflict, mutate, replace

VALUES = {
    "auto": st.booleans(),
    "mode": st.sampled_from(["native", "goal", "handoff"]),
    "thresholdRatio": st.sampled_from([0.5, 0.8, 0.9, 1, 2]),  # the last two are refused
    "retainRatio": st.sampled_from([0.1, 0.2, 0.85]),
    "retainTokens": st.sampled_from([0, 500, -1]),
    "headroomTokens": st.sampled_from([0, 4000, 65_536]),
    "maxTokens": st.sampled_from([1, 900, 0]),
}
OPS = st.lists(
    st.sampled_from(sorted(VALUES)).flatmap(
        lambda key: st.one_of(
            VALUES[key].map(lambda value: Op("set", key, value)),
            st.just(Op("unset", key)),
        )
    ),
    min_size=1,
    max_size=3,
)


class Revisions(RuleBasedStateMachine):
    views = Bundle("views")
    team = None

    @initialize(target=views)
    def begin(self):
        self.profile = Profile.unscoped.create(team=self.team, name=f"p{Profile.unscoped.count()}")
        self.documents = [{}]
        self.held = None
        return 0

    @rule(target=views)
    def look(self):
        return len(self.documents) - 1

    @rule(view=views, ops=OPS)
    def save(self, view, ops):
        before = list(self.documents)
        try:
            saved = mutate(self.profile, tuple(ops), view, by=None)
        except Conflict as conflict:
            self._refused(conflict, view)
            return
        except InvalidSettings:
            assert view == len(before) - 1
            return
        assert view == len(before) - 1, "saved over what another one had saved"
        wanted = dict(before[-1])
        for op in ops:
            if op.op == "unset":
                wanted.pop(op.key, None)
            else:
                wanted = {
                    key: value for key, value in wanted.items() if op.key not in RETENTION or key not in RETENTION
                }
                wanted[op.key] = op.value
        self._now(saved, wanted)

    @rule(
        view=views, document=st.sampled_from([{}, {"thresholdRatio": 1}, {"auto": False, "retainTokens": 7}, {"no": 1}])
    )
    def take_over(self, view, document):
        try:
            saved = replace(self.profile, document, view, by=None)
        except Conflict:
            assert view != len(self.documents) - 1
            return
        except InvalidSettings:
            assert "no" in document
            return
        assert view == len(self.documents) - 1
        self._now(saved, document)

    @rule()
    def start_a_worker(self):
        assert engine.take(Profile.unscoped.get(pk=self.profile.pk))
        self.held = normalised(resolve(self.documents[-1]))

    def _refused(self, conflict, view):
        assert view != len(self.documents) - 1
        assert (conflict.expected, conflict.actual) == (view, len(self.documents) - 1)
        assert (conflict.base, conflict.theirs.document) == (self.documents[view], self.documents[-1])

    def _now(self, saved, wanted):
        assert saved.profile.document == wanted
        if wanted != self.documents[-1]:
            self.documents.append(wanted)
        assert saved.profile.revision == len(self.documents) - 1

    @invariant()
    def what_stands_is_what_was_saved_last(self):
        row = Profile.unscoped.get(pk=self.profile.pk)
        assert (row.revision, row.document) == (len(self.documents) - 1, self.documents[-1])
        kept = SettingsRevision.unscoped.filter(profile=row).order_by("revision").values_list("revision", "document")
        assert list(kept) == list(enumerate(self.documents))[1:]
        snapshot = EngineSnapshot.unscoped.filter(profile=row).first()
        active = snapshot.config if snapshot else None
        assert active == self.held
        expected = active is not None and requires_reload(self.documents[-1], active)
        assert reload_needed(row) is expected
        assert expected is (active is not None and normalised(resolve(self.documents[-1])) != self.held)


@pytest.mark.django_db
def test_revisions_hold_under_any_order_of_writers(people):
    Revisions.team = people.team
    run_state_machine_as_test(
        Revisions,
        settings=settings(
            max_examples=40,
            stateful_step_count=15,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
        ),
    )


def test_a_team_has_one_default_profile(people):
    assert default_of(people.team) == default_of(people.team)
    assert Profile.unscoped.filter(team=people.team, is_default=True).count() == 1
