"""Why a target is, or is not, on a cluster type."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kalypso_actions.comparison import Mask
from kalypso_actions.errors import KalypsoError, Location, Problem, UsageError
from kalypso_actions.model.kinds import Fleet
from kalypso_actions.model.tree import RegistrationReading
from kalypso_actions.planning.explanation import (
    ExplainedEnvironment,
    Question,
    explain_file,
    explain_key,
    explain_pairs,
    explain_policies,
)
from kalypso_actions.planning.plan import PlanOptions
from kalypso_actions.report.explain_document import (
    DecisionEntry,
    ExplainedFileEntry,
    PairEntry,
    ValueEntry,
)
from kalypso_actions.scheduling import Decision, DecisionStep, LabelScheduler, Schedule, Scheduler
from tests.builders import cluster_type, config_map, fleet, policy, selector, target, template
from tests.plans import reading, snapshot_of

LARGE = cluster_type("large", size="large", region="west")
EDGE = cluster_type("edge", size="small")
WEB = target("web", tier="front")
JOB = target("job", tier="back", workload="batch")
FRONT = policy(
    "front",
    workspace="team",
    targets=selector(tier="front"),
    cluster_types=selector(("region", "NotIn", ["east"]), size="large"),
)
GPU = policy("gpu", targets=selector(tier="back"), cluster_types=selector(("gpu", "Exists", [])))
SCHEDULED = fleet(cluster_types=[EDGE, LARGE], targets=[JOB, WEB], policies=[FRONT, GPU])


def pairs(
    target_: str = "", cluster_type_: str = "", of: Fleet = SCHEDULED
) -> tuple[PairEntry, ...]:
    return explain_pairs(Question.of(environment(of), target_, cluster_type_))


def terms(entry: DecisionEntry) -> list[tuple[str, str | None, bool]]:
    return [(term.requirement, term.value, term.matched) for _, term in entry.terms]


def test_the_terms_that_select_a_pair() -> None:
    (pair,) = pairs("app-web", "large")
    assert pair.policies == ("front",)
    assert [(item.policy, item.selected) for item in pair.decisions] == [
        ("front", True),
        ("gpu", False),
    ]
    assert terms(pair.decisions[0]) == [
        ("workspace = team", "team", True),
        ("tier = front", "front", True),
        ("size = large", "large", True),
        ("region not in (east)", "west", True),
    ]


def test_the_term_that_fails_with_its_value_and_the_nearest_miss_first() -> None:
    (pair,) = pairs("app-web", "edge")
    assert pair.policies == ()
    nearest, farther = pair.decisions
    assert (nearest.policy, nearest.misses) == ("front", 1)
    assert ("size = large", "small", False) in terms(nearest)
    assert ("region not in (east)", None, True) in terms(nearest)
    assert (farther.policy, farther.misses) == ("gpu", 2)


def test_of_equally_near_policies_the_one_with_more_matching_terms_is_first() -> None:
    short = policy("a-short", cluster_types=selector(size="none"))
    (pair,) = pairs("app-web", "edge", replace(SCHEDULED, policies=(short, FRONT)))
    assert [item.policy for item in pair.decisions] == ["front", "a-short"]


def test_of_equally_near_policies_the_one_for_the_target_is_first() -> None:
    """A policy for other targets says nothing about this one, though it names the cluster type."""
    others = policy("all", targets=selector(tier="other"), cluster_types=selector(size="small"))
    own = policy("own", targets=selector(tier="front"), cluster_types=selector(size="large"))
    (pair,) = pairs("app-web", "edge", replace(SCHEDULED, policies=(others, own)))
    assert [item.policy for item in pair.decisions] == ["own", "all"]


def test_a_target_on_all_cluster_types_has_the_deciding_policies_alone() -> None:
    assert [
        (p.cluster_type, p.policies, [d.policy for d in p.decisions]) for p in pairs("app-web")
    ] == [
        ("edge", (), ["front"]),
        ("large", ("front",), ["front"]),
    ]


def test_a_workload_names_all_of_its_targets() -> None:
    assert [pair.target for pair in pairs("batch", "edge")] == ["batch-job"]


def test_a_cluster_type_with_all_targets() -> None:
    assert [(pair.target, pair.policies) for pair in pairs("", "large")] == [
        ("app-web", ("front",)),
        ("batch-job", ()),
    ]


def test_the_place_of_a_term() -> None:
    where = Location("test", "policy.yaml", 7)
    narrow = replace(selector(size="large"), places={"size": where})
    (pair,) = pairs(
        "app-web", "edge", replace(SCHEDULED, policies=(policy("p", cluster_types=narrow),))
    )
    (term,) = pair.decisions[0].cluster_type_terms
    assert term.where is not None
    assert term.where.location() == where


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("app-wed", ""), "did you mean app-web? targets: app-web, batch-job"),
        (("bathc", ""), "did you mean batch? targets: app-web, batch-job"),
        (("zzz", ""), "targets: app-web, batch-job"),
        (("", "larg"), "did you mean large? cluster types: edge, large"),
    ],
    ids=["a target", "a workload", "nothing near", "a cluster type"],
)
def test_a_mistyped_name(names: tuple[str, str], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        pairs(*names)
    assert caught.value.problems[0].advice == said


def test_a_target_of_another_environment() -> None:
    other = target("web", workload="shop", environment="stage")
    env = environment(SCHEDULED, reading(other))
    with pytest.raises(KalypsoError, match="the target 'shop-web' is not for dev: it is for stage"):
        Question.of(env, "shop-web")


def test_policies_with_what_they_assign() -> None:
    policies, unassigned, empty = explain_policies(environment(SCHEDULED))
    assert [(each.policy, each.targets, each.cluster_types) for each in policies] == [
        ("front", ("app-web",), ("large",)),
        ("gpu", (), ()),
    ]
    assert (unassigned, empty) == (("batch-job",), ("edge",))


class CuttingScheduler(Scheduler):
    """Assigns nothing, and says why."""

    def schedule(self, fleet: Fleet) -> Schedule:
        steps = (
            DecisionStep("score Steady", "100"),
            DecisionStep("cut", "rank 4 of 6, numberOfClusters: 3", passed=False),
        )
        return Schedule(
            (), (), lambda _target, _type: (Decision(fleet.policies[0].name, (), (), steps),)
        )


def test_another_scheduler_explains_itself() -> None:
    env = environment(SCHEDULED, scheduler=CuttingScheduler())
    (pair,) = explain_pairs(Question.of(env, "app-web", "large"))
    (decision,) = pair.decisions
    assert (decision.selected, decision.misses) == (False, 1)
    assert [(step.name, step.passed) for step in decision.steps] == [
        ("score Steady", None),
        ("cut", False),
    ]


def environment(
    fleet_: Fleet,
    *registrations: RegistrationReading,
    scheduler: Scheduler | None = None,
    mask: str = "",
) -> ExplainedEnvironment:
    """Return the environment of a fleet; `mask` is a glob of secret keys."""
    snapshot = snapshot_of(fleet_, *registrations)
    masked = Mask([mask] if mask else [])
    return ExplainedEnvironment.of(snapshot, PlanOptions(), scheduler or LabelScheduler(), masked)


CONFIGURED = fleet(
    cluster_types=[cluster_type("east", region="east"), cluster_type("west", region="west")],
    targets=[target("web")],
    policies=[policy("all")],
    config_maps=[
        config_map(
            "a-all",
            {
                "URL": "old",
                "LOG": "level: info\nto: [{name: a, at: x}]",
                "API_TOKEN": "s3cr3t-text",
            },
        ),
        config_map("b-east", {"URL": "new", "LOG": "level: debug"}, region="east"),
        config_map("c-east", {"ONLY": "1", "NOTE": "with s3cr3t-text in it"}, region="east"),
    ],
)


def values(key: str, cluster_type_: str = "", mask: str = "") -> tuple[ValueEntry, ...]:
    return explain_key(Question.of(environment(CONFIGURED, mask=mask), "", cluster_type_), key)


def layers(entry: ValueEntry) -> list[tuple[str, str, int, bool]]:
    return [
        (layer.config_map, layer.value, layer.where.line if layer.where else 0, layer.wins)
        for layer in entry.layers
    ]


def test_every_layer_in_order_and_who_won() -> None:
    (entry,) = values("URL", "east")
    assert entry.value == "new"
    assert layers(entry) == [("a-all", "old", 2, False), ("b-east", "new", 2, True)]
    assert entry.layers[1].labels == {"region": "east"}


def test_a_layer_that_does_not_apply_and_the_labels_that_it_needs() -> None:
    (entry,) = values("URL", "west")
    assert (entry.value, layers(entry)) == ("old", [("a-all", "old", 2, True)])
    assert [(other.config_map, other.lacks) for other in entry.other_layers] == [
        ("b-east", {"region": "east"})
    ]


def test_assignments_with_equal_layers_are_one_answer() -> None:
    assert [[name.cluster_type for name in entry.assignments] for entry in values("API_TOKEN")] == [
        ["east", "west"]
    ]
    assert len(values("URL")) == 2


def test_a_merged_value_has_the_origin_of_each_element() -> None:
    (entry,) = values("LOG", "east")
    assert [(each.key, each.value) for each in entry.elements] == [
        ("LOG.level", "debug"),
        ("LOG.to[0].name", "a"),
        ("LOG.to[0].at", "x"),
    ]
    assert [layer.wins for layer in entry.layers] == [True, True]


def test_a_key_inside_of_a_value() -> None:
    (entry,) = values("LOG.level", "east")
    assert (entry.value, [layer.wins for layer in entry.layers]) == ("debug", [False, True])


def test_a_key_that_only_other_assignments_have() -> None:
    (entry,) = values("ONLY", "west")
    assert (entry.value, entry.layers, len(entry.other_layers)) == (None, (), 1)


@pytest.mark.parametrize(
    ("key", "mask", "value"),
    [("API_TOKEN", "", "***"), ("URL", "u*", "***"), ("NOTE", "", "with *** in it")],
    ids=["a secret key", "a key of --mask", "a secret text elsewhere"],
)
def test_no_secret_is_shown(key: str, mask: str, value: str) -> None:
    (entry,) = values(key, "east", mask)
    assert entry.value == value
    assert entry.layers[-1].value == value


def test_an_unknown_key() -> None:
    with pytest.raises(UsageError) as caught:
        values("ULR")
    advice = caught.value.problems[0].advice
    assert advice == "did you mean URL? keys: API_TOKEN, LOG, NOTE, ONLY, URL"


TEMPLATES = (
    template("reconciler", "a: {{.ConfigData.URL}}\nb: {{.Manifests.repo}}", "c: {{.Labels.no}}"),
    template("namespace", "kind: Namespace"),
    template("config", "{{range $k, $v := .ConfigData}}{{$k}}: {{$v}}\n{{end}}"),
)
RENDERED = fleet(
    cluster_types=[cluster_type("large"), cluster_type("plain", config_type="")],
    targets=[target("web", manifests={"repo": "https://git.test/x"})],
    policies=[policy("all")],
    config_maps=[config_map("all", {"URL": "u", "PASSWORD": "pass-word-1"})],
    templates=TEMPLATES,
)


def explained(path: str, of: Fleet = RENDERED) -> tuple[ExplainedFileEntry, tuple[Problem, ...]]:
    (entry,), problems = explain_file(environment(of), path, "", "")
    return entry, problems


def test_the_template_of_a_file_and_the_values_that_it_reads() -> None:
    entry, problems = explained("gitops/large/app-web/reconciler.yaml")
    assert problems == ()
    assert (entry.path, entry.template, entry.named_by, entry.written) == (
        "large/app-web/reconciler.yaml",
        "reconciler",
        "reconciler",
        True,
    )
    assert entry.where is not None
    assert entry.where.path == "reconciler.yaml"
    assert [(each.field, each.value) for each in entry.values] == [
        (".ConfigData.URL", "u"),
        (".Manifests.repo", "https://git.test/x"),
        (".Labels.no", None),
    ]
    set_at = entry.values[0].set_at
    assert set_at is not None
    assert (set_at.path, set_at.line) == ("all.yaml", 2)


@pytest.mark.parametrize("folder", ["large", "plain"], ids=["by a Template", "without a Template"])
def test_a_file_with_the_whole_configuration_masks_secrets(folder: str) -> None:
    entry, _ = explained(f"{folder}/app-web/platform-config.yaml")
    assert entry.template == ("config" if folder == "large" else "")
    assert [(each.field, each.value) for each in entry.values] == [
        (".ConfigData.URL", "u"),
        (".ConfigData.PASSWORD", "***"),
    ]


def test_a_template_that_fails_is_a_problem() -> None:
    broken = (template("reconciler", '{{fail "no"}}'), *TEMPLATES[1:])
    entry, problems = explained(
        "large/app-web/reconciler.yaml",
        fleet(
            cluster_types=RENDERED.cluster_types,
            targets=RENDERED.targets,
            policies=RENDERED.policies,
            templates=broken,
        ),
    )
    assert not entry.written
    assert ["no" in problem.message for problem in problems] == [True]


@pytest.mark.parametrize(
    ("path", "message", "advice"),
    [
        (
            "large/app-web/reconciler.yml",
            "no Template writes a file named",
            "did you mean reconciler.yaml?",
        ),
        (
            "large/app-web/platform-config.sh",
            "large/app-web has no platform-config.sh",
            "its files: rec",
        ),
        ("reconciler.yaml", "names no assignment", "--target and --cluster-type"),
        ("large/README.md", "kalypso schedule writes it itself", ""),
        ("larg/app-web/reconciler.yaml", "no cluster type 'larg'", "did you mean large?"),
    ],
    ids=["misspelled", "absent", "no assignment", "our own", "unknown cluster type"],
)
def test_other_paths(path: str, message: str, advice: str) -> None:
    with pytest.raises(UsageError) as caught:
        explained(path)
    (problem,) = caught.value.problems
    assert message in problem.message
    assert advice in problem.advice


def test_a_pair_that_is_not_assigned_has_no_file() -> None:
    lonely = fleet(cluster_types=RENDERED.cluster_types, targets=RENDERED.targets)
    with pytest.raises(UsageError, match="app-web is not assigned to large") as caught:
        explained("large/app-web/reconciler.yaml", lonely)
    assert "--target app-web --cluster-type large" in caught.value.problems[0].advice
