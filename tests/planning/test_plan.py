"""A plan from a snapshot: problems, preserved folders and warnings."""

from __future__ import annotations

import json

import pytest

from kalypso_actions.errors import Problem
from kalypso_actions.model.layout import README_TEXT
from kalypso_actions.planning.plan import PlanOptions
from tests.builders import (
    HERE,
    TEMPLATES,
    cluster_type,
    config_map,
    config_schema,
    fleet,
    target,
    template,
)
from tests.plans import LARGE, POLICY, plan, reading, tree


def test_from_policy_to_files() -> None:
    made = plan(
        fleet(cluster_types=[LARGE], policies=[POLICY], config_maps=[config_map("c", {"K": "v"})]),
        reading(target("web")),
    )
    assert not made.problems
    assert not made.degraded
    assert made.changes.files["large/app-web/platform-config.yaml"] == b"K: v\n"
    assert made.changes.files["large/app-web/namespace.yaml"] == b"namespace: dev-large-app-web\n"
    (item,) = made.assignments
    assert item.files == ("reconciler.yaml", "namespace.yaml", "platform-config.yaml")
    assert item.config.origins["K",][0].path == "c.yaml"


def test_targets_of_other_environments_are_not_ours() -> None:
    made = plan(
        fleet(cluster_types=[LARGE], policies=[POLICY]), reading(target("web", environment="stage"))
    )
    assert made.assignments == ()


def test_a_name_used_twice_is_a_problem() -> None:
    by_hand = target("web")
    made = plan(fleet(cluster_types=[LARGE], targets=[by_hand]), reading(target("web")))
    assert [p.message for p in made.problems] == [
        "deployment target 'app-web' is already defined in test: app.yaml:1"
    ]


def test_a_target_that_moved_is_not_taken_from_a_last_good_commit() -> None:
    moved = target("web", size="moved")
    made = plan(
        fleet(cluster_types=[LARGE], policies=[POLICY]),
        reading(target("web"), target("other"), name="a", state="last-good"),
        reading(moved, name="b"),
    )
    assert not made.problems
    assert [item.assignment.target.name for item in made.assignments] == ["app-other", "app-web"]
    assert made.assignments[1].assignment.target is moved


def test_a_failing_assignment_blocks() -> None:
    broken = cluster_type("broken", reconciler="nowhere")
    made = plan(fleet(cluster_types=[LARGE, broken], policies=[POLICY]), reading(target("web")))
    assert made.faults == ()
    assert [str(p) for p in made.problems] == [
        "test: broken.yaml:1: ClusterType 'broken': reconciler names the Template 'nowhere', which "
        "does not exist (add a Template named 'nowhere' to main, or correct the name in the "
        "ClusterType)"
    ]
    assert made.degraded


def test_a_failing_assignment_may_be_kept_as_it_was() -> None:
    broken = cluster_type("broken", reconciler="nowhere")
    base = {"broken/README.md": README_TEXT.decode(), "broken/app-web/reconciler.yaml": "old"}
    made = plan(
        fleet(cluster_types=[LARGE, broken], policies=[POLICY]),
        reading(target("web")),
        base=base,
        options=PlanOptions(on_failure="keep"),
    )
    assert not made.problems
    assert len(made.warnings) == 1
    assert made.degraded
    assert made.changes.deleted == ()
    assert "large/app-web/reconciler.yaml" in made.changes.files


def test_any_failing_template_means_no_file_at_all() -> None:
    broken = template("config", '{{ fail "no" }}')
    made = plan(
        fleet(
            cluster_types=[LARGE],
            policies=[POLICY],
            templates=[*TEMPLATES[:2], broken],
        ),
        reading(target("web")),
        options=PlanOptions(on_failure="keep"),
    )
    assert not any(path.startswith("large/app-web/") for path in made.changes.files)
    assert made.warnings[0].message == "app-web on large: Template 'config' fails: no"


def test_a_schema_violation_has_upstreams_message() -> None:
    made = plan(
        fleet(
            cluster_types=[LARGE],
            policies=[POLICY],
            config_maps=[config_map("c", {"REGION": "x", "MAX_CONN": "20"})],
            config_schemas=[
                config_schema(
                    "a",
                    '{"type":"object","required":["REGION","MAX_CONN"],"properties":{"MAX_CONN":'
                    '{"type":"integer","maximum":15}}}',
                )
            ],
        ),
        reading(target("web", config_schemas=['{"type":"object","required":["DB_URL"]}'])),
    )
    (item,) = made.assignments
    assert item.failure is not None
    assert item.failure.message == (
        "Config data validation failed: \n - MAX_CONN: Must be less than or equal to 15\n\n"
        "- DB_URL is required\n"
    )


def test_a_mass_removal_is_a_warning() -> None:
    base = {f"large/app-{n}/reconciler.yaml": "x" for n in range(8)}
    made = plan(fleet(cluster_types=[LARGE]), base=base, others=[tree({})])
    warning, none = made.mass_removals
    assert warning is not None
    assert warning.message.startswith("8 of 8 assignments would be removed")
    assert none is None
    assert made.all_warnings == (*made.warnings, warning)


def test_problems_of_the_control_plane_are_problems_of_the_plan() -> None:
    made = plan(fleet(), problems=[Problem("a broken document", HERE)])
    assert [p.message for p in made.problems] == ["a broken document"]
    assert made.faults == made.problems


def test_a_namespace_beyond_kubernetes_limits_fails_its_assignment() -> None:
    made = plan(
        fleet(cluster_types=[cluster_type("c" * 30)], policies=[POLICY]),
        reading(target("t" * 30)),
    )
    assert made.problems[0].message.endswith("has 69 characters, at most 63 are allowed")


def test_an_unset_key_is_told_where_its_manifest_is_refused() -> None:
    manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a-{{ .ConfigData.NOPE }}\n"
    made = plan(
        fleet(
            cluster_types=[LARGE],
            policies=[POLICY],
            templates=[template("reconciler", manifest), *TEMPLATES[1:]],
        ),
        reading(target("web")),
        options=PlanOptions(manifests="strict"),
    )
    told = {(item.level, item.code): item.advice for item in made.findings}
    assert told.keys() >= {("error", "manifest-name-invalid"), ("warning", "template-key-unset")}
    advice = told["error", "manifest-name-invalid"]
    assert advice == "set the key that the Template reads there, or give it a default"


def test_templates_change_only_their_own_assignments_data() -> None:
    changing = template(
        "reconciler", '{{ $_ := set .ConfigData "K" "changed" }}{{ .ConfigData.K }}'
    )
    later = template("config", "{{ .ConfigData.K }} {{ .DeploymentTargetName }}\n")
    innocent = template("innocent", "{{ .ConfigData.K }}\n")
    made = plan(
        fleet(
            cluster_types=[LARGE, cluster_type("small", reconciler="innocent")],
            policies=[POLICY],
            config_maps=[config_map("c", {"K": "v"})],
            templates=[changing, TEMPLATES[1], later, innocent],
        ),
        reading(target("web")),
    )
    assert made.changes.files["large/app-web/platform-config.yaml"] == b"changed app-web\n"
    assert made.changes.files["small/app-web/reconciler.yaml"] == b"v\n"
    assert made.changes.files["small/app-web/platform-config.yaml"] == b"v app-web\n"


@pytest.mark.parametrize(
    ("config_type", "options", "file"),
    [
        ("", PlanOptions(), "platform-config.yaml"),
        ("configMap", PlanOptions(config_file="legacy"), "config.yaml"),
        ("envFile", PlanOptions(config_file="legacy"), "platform-config.sh"),
        ("config", PlanOptions(config_file="legacy"), "config.yaml"),
    ],
)
def test_the_name_of_the_configuration_file(
    config_type: str, options: PlanOptions, file: str
) -> None:
    made = plan(
        fleet(
            cluster_types=[cluster_type("large", config_type=config_type)],
            policies=[POLICY],
            config_maps=[config_map("c", {"K": "v"})],
        ),
        reading(target("web")),
        options=options,
    )
    assert f"large/app-web/{file}" in made.changes.files


@pytest.mark.parametrize("text", ["$(reboot)", "`id`", 'a"b', "back\\slash", "two\nlines"])
def test_an_env_file_holds_nothing_that_a_shell_would_expand(text: str) -> None:
    made = plan(
        fleet(
            cluster_types=[cluster_type("large", config_type="envFile")],
            policies=[POLICY],
            config_maps=[config_map("c", {"K": text})],
        ),
        reading(target("web")),
    )
    assert (
        "the value of K contains a character that a shell would not take"
        in made.problems[0].message
    )


def test_an_unusable_registration_warns_or_blocks() -> None:
    unreadable = reading(state="kept", problems=[Problem("cannot be read", HERE)])
    kept = plan(fleet(cluster_types=[LARGE]), unreadable)
    assert ([p.message for p in kept.problems], kept.degraded) == ([], True)
    assert [w.message for w in kept.warnings] == ["cannot be read"]
    blocked = plan(
        fleet(cluster_types=[LARGE]), unreadable, options=PlanOptions(on_source_failure="block")
    )
    assert [p.message for p in blocked.problems] == ["cannot be read"]
    assert blocked.faults == ()


BASE = {
    "large/README.md": README_TEXT.decode(),
    "large/lost-a/reconciler.yaml": "x",
    "large/other-b/reconciler.yaml": "x",
}
SOURCES = b"""{"schema": "kalypso.sources/v1", "environment": "dev", "targets": {"lost-a": "app"},
"registrations": {"app": {"repository": "https://git.test/app", "branch": "main", "path": ".",
"commit": "1", "tree": "2"}}}"""


def test_without_sources_nothing_is_deleted_while_a_registration_is_unreadable() -> None:
    made = plan(fleet(cluster_types=[LARGE]), reading(state="kept"), base=BASE)
    assert made.changes.deleted == ()


def test_with_sources_the_targets_of_an_unreadable_registration_stay() -> None:
    made = plan(fleet(cluster_types=[LARGE]), reading(state="kept"), base=BASE, sources=SOURCES)
    assert made.changes.deleted == ("large/other-b/reconciler.yaml",)
    written = made.changes.files[".github/tracking/sources.json"]
    assert b'"lost-a": "app"' in written
    assert b'"commit": "1"' in written


def test_an_unreadable_registration_that_no_run_has_read_keeps_what_may_be_its_own() -> None:
    """This is the second run after an adoption that could not read it, or after a renaming."""
    made = plan(
        fleet(cluster_types=[LARGE]),
        reading(state="head"),
        reading(name="unread", state="kept"),
        base={**BASE, "large/left-c/reconciler.yaml": "x"},
        sources=SOURCES.replace(b'"targets": {', b'"targets": {"left-c": "renamed",'),
    )
    assert made.changes.deleted == ("large/lost-a/reconciler.yaml",)
    assert b'"left-c": "renamed"' in made.changes.files[".github/tracking/sources.json"]


@pytest.mark.parametrize(
    ("sources", "recorded"),
    [
        (None, None),
        (SOURCES, "1"),
        (SOURCES.replace(b'"1"', b"null"), None),
        (SOURCES.replace(b"git.test/app", b"git.test/App.git"), "1"),
        (SOURCES.replace(b"git.test/app", b"git.test/before"), None),
    ],
)
def test_a_never_readable_registration_is_recorded_without_a_commit(
    sources: bytes | None, recorded: str | None
) -> None:
    """poll starts schedule as soon as the registration can be read."""
    made = plan(fleet(cluster_types=[LARGE]), reading(state="kept"), base=BASE, sources=sources)
    written = json.loads(made.changes.files[".github/tracking/sources.json"])
    entry = written["registrations"]["app"]
    assert entry["commit"] == recorded
    if recorded is None:
        place = {"repository": "https://git.test/app", "branch": "main", "path": "."}
        assert entry == {**place, "commit": None, "tree": None}


def test_a_registration_that_is_recorded_but_was_never_read_keeps_what_may_be_its_own() -> None:
    """This is the second run after an adoption that could not read it."""
    never = SOURCES.replace(b'"lost-a": "app"', b"").replace(b'"1"', b"null")
    made = plan(fleet(cluster_types=[LARGE]), reading(state="kept"), base=BASE, sources=never)
    assert made.changes.deleted == ()


def test_another_environments_sources_say_nothing_of_this_one() -> None:
    made = plan(
        fleet(cluster_types=[LARGE]),
        reading(state="kept"),
        base=BASE,
        sources=SOURCES.replace(b"dev", b"stage"),
    )
    assert made.changes.deleted == ()


def test_the_targets_known_to_one_branch_are_kept_in_all() -> None:
    """Only one of two GitOpsRepos is merged."""
    made = plan(
        fleet(cluster_types=[LARGE]),
        reading(state="kept"),
        base=BASE,
        sources=SOURCES.replace(b'"lost-a": "app"', b'"other-b": "gone"'),
        others=[tree(BASE, SOURCES), tree(BASE)],
    )
    assert [changes.preserved_folders for changes in made.trees] == [
        ("large/lost-a",),
        ("large/lost-a",),
        ("large/lost-a", "large/other-b"),  # both may belong to the registration
    ]
    written = {changes.files[".github/tracking/sources.json"] for changes in made.trees}
    assert len(written) == 1
    assert b'"lost-a": "app"' in written.pop()


def test_a_removed_registration_takes_its_targets_along() -> None:
    made = plan(fleet(cluster_types=[LARGE]), base=BASE, sources=SOURCES)
    assert made.changes.deleted == (
        "large/lost-a/reconciler.yaml",
        "large/other-b/reconciler.yaml",
    )
