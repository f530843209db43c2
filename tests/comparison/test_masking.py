"""A masked comparison has no secret in any of its parts."""

from __future__ import annotations

import base64
import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.comparison import Mask
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.differences import (
    AssignmentName,
    Comparison,
    FileDiff,
    SetValue,
    ValueChange,
    Withheld,
)
from kalypso_actions.model.processes import no_progress
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.planning.plan import PlanOptions
from kalypso_actions.planning.plan_pair import PlanPair, plan_pair
from kalypso_actions.scheduling import LabelScheduler
from tests.builders import TEMPLATES, cluster_type, config_map, fleet, policy, target, template
from tests.plans import reading, snapshot_of

MASK = Mask()
PUBLIC, PRIVATE = "https://git.test/control-plane", "https://git.test/private"


def pair(texts: tuple[str, str], template_text: str, manifest: str = "") -> PlanPair:
    """Return two plans with a secret in their configuration, which a Template prints."""

    def snapshot(data: dict[str, str]) -> Snapshot:
        manifests = {"repo": "r", "branch": "b", "path": "p", "deployToken": manifest}
        made = fleet(
            cluster_types=[cluster_type("large")],
            policies=[policy("all")],
            config_maps=[config_map("c", data)],
            templates=[template("reconciler", template_text), *TEMPLATES[1:]],
        )
        read = (reading(target("web", manifests=manifests)),)
        return snapshot_of(made, *read)

    base, head = (
        snapshot({"DB": f"password: {json.dumps(text)}", "K": text[:1]}) for text in texts
    )
    return plan_pair(base, head, PlanOptions(), LabelScheduler(), no_progress, MASK)


secrets = st.text(st.characters(min_codepoint=33, max_codepoint=0x17F), min_size=4, max_size=20)
printed = st.sampled_from(
    [
        "a: {{ .ConfigData.DB.password }}",
        "a: {{ .ConfigData.DB.password | b64enc }}\n",
        "a: {{ .ConfigData.DB | toJson }}\n",
        "b: |\n{{ toYaml .ConfigData | indent 2 }}\n",
        "{{ fail .ConfigData.DB.password }}",
        "url: https://x:{{ .ConfigData.DB.password }}@host",
        "{{ .Manifests.deployToken | quote }}: {{ .ConfigData.DB.password }}<no value>",
    ]
)


@given(secrets, secrets, printed)
def test_no_secret_is_left(old: str, new: str, template_text: str) -> None:
    old, new = f"Zq{old}qZ", f"Zn{new}qZ"
    made = pair((old, new), template_text, manifest=f"{new}!")
    assert new in repr(made) or json.dumps(new) in repr(made) or repr(new)[1:-1] in repr(made)
    masked = made.masked(MASK)
    shown = repr(made.comparison.files) + repr(dataclasses.asdict(masked))
    shown += json.dumps(dataclasses.asdict(masked), default=repr)
    for secret in (old, new):
        encoded = base64.b64encode(secret.encode()).decode()
        for form in (secret, repr(secret)[1:-1], json.dumps(secret)[1:-1], encoded):
            assert form not in shown


def test_a_changed_secret_is_a_change() -> None:
    masked = pair(("old-secret", "new-secret"), "a: b\n").masked(MASK)
    value, _ = masked.values
    assert value.path == ("DB", "password")
    assert value.before == value.after == SetValue("***", Location("test", "c.yaml", 2))
    (file,) = masked.files
    assert file.hunks == '@@ -1,3 +1,3 @@\n DB:\n     password: ***\n-K: o\n+K: "n"\n'


@pytest.mark.parametrize(
    "hidden", [PRIVATE, f"{PRIVATE}.git", PRIVATE.upper().replace("HTTPS", "https")]
)
def test_data_of_a_less_visible_repository_are_counted(hidden: str) -> None:
    private, public = Location(PRIVATE, "a.yaml", 1), Location(PUBLIC, "b.yaml", 1)
    both = frozenset({PUBLIC, PRIVATE})
    names = (AssignmentName("dev", "c", "a", both), AssignmentName("dev", "c", "b"))
    comparison = Comparison(
        "dev",
        assignments_added=names,
        assignments_removed=names,
        files=(
            FileDiff("c/a/reconciler.yaml", "added", "x", both),
            FileDiff("c/b/reconciler.yaml", "added", "y", frozenset({PUBLIC})),
        ),
        values=(
            ValueChange(("A",), (), None, SetValue("x", private), frozenset({PRIVATE})),
            ValueChange(("B",), names, None, SetValue("y", public), frozenset({PUBLIC})),
            ValueChange(("C",), names[:1], None, SetValue("z", public), frozenset({PUBLIC})),
        ),
        problems_new=(
            Problem("a", private),
            Problem("b", public, related=(private,)),
            Problem("c", public, related=(Location(PUBLIC),)),
        ),
        warnings_new=(Problem("d"), Problem("e", public, related=(Location(PRIVATE),))),
    )
    masked = Mask(hidden=[hidden]).masked(comparison)
    assert [item.path for item in masked.files] == ["c/b/reconciler.yaml"]
    assert [(item.path, item.assignments) for item in masked.values] == [(("B",), names[1:])]
    assert masked.assignments_added == masked.assignments_removed == names[1:]
    assert masked.problems_new == (Problem("c", public),)
    assert masked.warnings_new == (Problem("d"),)
    assert masked.withheld == (
        Withheld(PRIVATE, assignments=2, files=1, values=2, problems=2, warnings=1),
    )
