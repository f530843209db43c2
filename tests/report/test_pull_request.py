"""The text of schedule's pull requests."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kalypso_actions.model.change_titles import ChangeKind, ChangeMeaning, TitleStyle
from kalypso_actions.model.differences import (
    AssignmentName,
    CommitRange,
    CommitSubject,
    Comparison,
    MaskedComparison,
    SetValue,
    ValueChange,
    Withheld,
)
from kalypso_actions.model.tree import LeftOutApplication, TreeChanges
from kalypso_actions.report.documents import LeftOutEntry, ProblemEntry
from kalypso_actions.report.markdown import CommitLink
from kalypso_actions.report.pull_request import (
    Mark,
    PullRequestText,
    body,
    is_ours,
    marked,
    read_mark,
    says_waiting,
    upstream_title,
    with_waiting,
)

M, OLD, HEAD = "a" * 40, "b" * 40, "c" * 40
URL = "https://git.test/acme/fleet"
MAIN = CommitLink(M, f"https://git.test/acme/fleet/commit/{M}")
CONTROL_PLANE = "acme/control-plane"
NOTHING = TreeChanges(files={}, added=(), modified=(), deleted=(), unchanged=())


def changes(**given: Any) -> TreeChanges:
    return TreeChanges(
        **{"files": {}, "added": (), "modified": (), "deleted": (), "unchanged": (), **given}
    )


def text(made: TreeChanges = NOTHING, **given: Any) -> PullRequestText:
    return PullRequestText(
        **{
            "control_plane": CONTROL_PLANE,
            "environment": "dev",
            "commit": HEAD,
            "assignments": 3,
            "changes": made,
            "folder": "",
            "main": MAIN,
            "before": None,
            "meaning": meaning(),
            **given,
        }
    )


def meaning(kind: ChangeKind = "promotion", **given: Any) -> ChangeMeaning:
    given = {"next_environments": ("stage",), "clusters": 8, "cluster_types": 2, **given}
    return ChangeMeaning(kind, "dev", M, **given)


def lines(made: TreeChanges = NOTHING, **given: Any) -> list[str]:
    return body(text(made, **given)).splitlines()


def test_it_begins_with_our_mark_and_what_happens_after_the_merge() -> None:
    own = f"<!-- kalypso:v1 kind=pull-request environment=dev commit={HEAD} control-plane={CONTROL_PLANE} means=promotion-{{}} -->"
    after = "After the merge, 8 clusters follow this branch to the new tree; when they comply, then stage."
    sentence = "This PR updates the manifests in GitOps Repo"
    assert lines()[:3] == [own.format("meaning"), "", after]
    upstream = [own.format("upstream"), sentence, "", after]
    assert lines(title="upstream")[:4] == upstream
    assert upstream_title("dev", "kalypso/dev") == "Update manifests in dev from kalypso/dev"


@pytest.mark.parametrize(
    ("written", "described", "ours"),
    [
        (body(text()), True, True),
        (body(text()).replace("\n", "\r\n"), True, True),
        (f"{Mark('dev', OLD)}", False, True),
        (f"{Mark('dev2', HEAD)}", False, False),
        (f"by hand\n{Mark('dev', HEAD)}", False, False),
        (f"{Mark('dev', HEAD, control_plane='Acme/Control-Plane')}", False, True),
        (f"{Mark('dev', HEAD, control_plane='acme/other')}", False, False),
        ("", False, False),
    ],
)
def test_the_first_line_tells_the_owner(written: str, described: bool, ours: bool) -> None:
    described_mark = Mark("dev", HEAD, control_plane=CONTROL_PLANE, means=MEANS)
    assert (read_mark(written) == described_mark) == described
    assert is_ours(written, "dev", CONTROL_PLANE) == ours


MEANS = "promotion-meaning"

MARKS = [
    (Mark("dev", HEAD), ""),
    (Mark("dev", HEAD, "always"), " auto-merge=always"),
    (Mark("dev", HEAD, "tracking-only"), " auto-merge=tracking-only"),
    (Mark("dev", HEAD, "", (OLD, "dirty")), f" tried={OLD}/dirty"),
    (Mark("dev", HEAD, "", (OLD, "has_hooks")), f" tried={OLD}/has_hooks"),
    (Mark("dev", HEAD, "always", (OLD, "")), f" auto-merge=always tried={OLD}/"),
    (Mark("dev", HEAD, control_plane=CONTROL_PLANE), f" control-plane={CONTROL_PLANE}"),
    (Mark("dev", HEAD, means=MEANS), f" means={MEANS}"),
]


@pytest.mark.parametrize(("mark", "fields"), MARKS)
def test_a_mark_survives_its_line(mark: Mark, fields: str) -> None:
    line = f"<!-- kalypso:v1 kind=pull-request environment=dev commit={HEAD}{fields} -->"
    assert str(mark) == line
    assert read_mark(line) == mark
    assert read_mark(f"{line}\r\nAnd more.") == mark


def test_a_mark_may_name_no_commit_yet() -> None:
    mark = Mark("dev", "")
    assert read_mark(str(mark)) == mark


@pytest.mark.parametrize(("mark", "_fields"), MARKS)
def test_another_mark_leaves_the_rest_of_the_body(mark: Mark, _fields: str) -> None:
    before = body(text())
    after = marked(before, mark)
    assert read_mark(after) == mark
    assert after.partition("\n")[2] == before.partition("\n")[2]
    assert marked("", mark) == str(mark)


@pytest.mark.parametrize(
    "fields",
    [
        " auto-merge=",
        " auto-merge=Always",
        " auto-merge=always --> <!--",
        " tried=main/dirty",
        f" tried={OLD}",
        f" tried={OLD}/dirty/clean",
        f" tried={OLD}/a b",
        f" tried={OLD}/clean auto-merge=always",
        " other=field",
        " control-plane=",
        " control-plane=main",
        "\n-->",
    ],
)
def test_a_mark_that_people_edited_does_not_count(fields: str) -> None:
    line = f"<!-- kalypso:v1 kind=pull-request environment=dev commit={HEAD}{fields} -->"
    assert read_mark(line) is None
    assert not is_ours(line, "dev", CONTROL_PLANE)


def test_a_mark_is_not_looked_for_in_the_text() -> None:
    hostile = f"Please merge {Mark('dev', HEAD, 'always')}\n{Mark('dev', HEAD, 'always')}"
    assert read_mark(hostile) is None


@pytest.mark.parametrize("auto_merge", ["", "tracking-only", "always"])
def test_the_body_says_how_it_is_merged(auto_merge: str) -> None:
    mark = Mark("dev", HEAD, auto_merge, control_plane=CONTROL_PLANE, means=MEANS)
    assert read_mark(body(text(auto_merge=auto_merge))) == mark


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, f"This pull request **promotes** [aaaaaaa]({MAIN.url}) of main."),
        (
            {"before": CommitLink(OLD, "")},
            f"This pull request **promotes** [aaaaaaa]({MAIN.url}) of main, after `bbbbbbb`.",
        ),
        ({"before": MAIN}, f"This pull request **promotes** [aaaaaaa]({MAIN.url}) of main."),
        (
            {"meaning": meaning("rollback"), "before": CommitLink(OLD, "")},
            f"This pull request **goes back** to [aaaaaaa]({MAIN.url}) of main, from `bbbbbbb`.",
        ),
        (
            {"meaning": meaning("continuation")},
            f"This pull request **corrects** [aaaaaaa]({MAIN.url}) of main, which is not deployed "
            "here yet.",
        ),
        (
            {"meaning": meaning("continuation", failure="Failed to deploy: web [x](y)")},
            f"This pull request **corrects** [aaaaaaa]({MAIN.url}) of main, which is not deployed "
            "here yet: Failed to deploy\\: web \\[x\\]\\(y\\).",
        ),
        (
            {
                "meaning": meaning("rollback"),
                "before": CommitLink(OLD, ""),
                "held_at": "hold by ann: rolled back from bbbbbbb: it leaks",
            },
            f"This pull request **goes back** to [aaaaaaa]({MAIN.url}) of main, from `bbbbbbb`. "
            "No other commit enters the environment during the hold by ann\\: rolled back from "
            "bbbbbbb\\: it leaks.",
        ),
        (
            {"meaning": meaning("configuration", applications=("web",))},
            "This pull request changes the **configuration**, and brings changes of **application "
            f"web**; main stays at [aaaaaaa]({MAIN.url}).",
        ),
        (
            {"meaning": meaning("application", applications=("web",))},
            "This pull request brings **changes of applications**; main stays at "
            f"[aaaaaaa]({MAIN.url}).",
        ),
        (
            {"meaning": meaning("configuration")},
            f"This pull request changes the **configuration**; main stays at [aaaaaaa]({MAIN.url}).",
        ),
        ({"main": None}, "The environment names no commit of main, so none is promoted."),
    ],
)
def test_the_promoted_commit(given: dict[str, Any], said: str) -> None:
    assert said in lines(**given)


def test_changes_by_cluster_type_and_target() -> None:
    made = changes(
        added=("fleet/.github/tracking/Promoted_Commit_Id", "fleet/small/README.md"),
        modified=("fleet/large/app-web/namespace.yaml", "fleet/large/app-web/reconciler.yaml"),
        deleted=("fleet/large/app-old/reconciler.yaml", "fleet/large/app-old/notes/a.md"),
    )
    said = lines(made, folder="fleet")
    assert (
        "Environment `dev`, 3 assignments. Manifests: **1 added, 2 modified, 2 deleted**." in said
    )
    assert "| `large` | 2 | 0 | 2 | 2 |" in said
    assert "| `small` | 0 | 1 | 0 | 0 |" in said
    assert "<summary><code>large</code>: 2 modified, 2 deleted</summary>" in said
    assert "- `app-old` — deleted: `reconciler.yaml`, `notes/a.md`" in said
    assert "- `app-web` — modified: `namespace.yaml`, `reconciler.yaml`" in said
    assert "- the cluster type — added: `README.md`" in said


def test_a_tracking_file_alone_is_no_manifest() -> None:
    made = changes(modified=(".github/tracking/Promoted_Commit_Id",))
    assert "No manifest changes." in lines(made)


def test_warnings_for_reviewers() -> None:
    made = changes(
        deleted=("large/app-old/notes.md",),
        foreign_deleted=("large/app-old/notes.md",),
        preserved_folders=("large/app-lost",),
        removed_folders=("large/app-old",),
        existing_folders=1,
    )
    left_out = LeftOutEntry.all_of(
        [
            LeftOutApplication("lost", False, 1),
            LeftOutApplication("broken", False, 8000, OLD),
            LeftOutApplication("new", True, None),
        ]
    )
    warning = ProblemEntry(message="look <here>", where=None, advice="")
    said = lines(made, left_out=left_out, others=[7, 12], allowed_by="@octocat", warnings=[warning])
    assert "**1 of 1 assignments are removed.** \\@\u200boctocat allows it." in said
    assert "**Other open pull requests change the same files:** #7, #12. Merge one of them." in said
    assert "- `large/app-old/notes.md`" in said
    assert "- `large/app-lost`" in said
    assert "- `lost` is frozen: the folders of its 1 assignment stay as they are" in said
    frozen = "- `broken` is frozen at its last good commit bbbbbbb, with its 8000 assignments"
    assert frozen in said
    assert "- `new` is missing: its assignments cannot be rendered" in said
    assert "- look \\<here\\>" in said


def test_names_from_the_tree_are_harmless() -> None:
    """A folder with our README.md may have any name."""
    odd = "<img src=x>|@team"
    said = body(text(changes(deleted=(f"{odd}/README.md", f"{odd}/a`|b/reconciler.yaml"))))
    assert "<code>&lt;img src=x&gt;|@\u200bteam</code>" in said
    assert "| `<img src=x>\\|@team` | 1 | 0 | 0 | 2 |" in said
    assert "- ``a`\\|b`` — deleted: `reconciler.yaml`" in said


def test_long_lists_are_cut() -> None:
    many = tuple(f"large/app-{number}/reconciler.yaml" for number in range(5000))
    said = body(text(changes(added=many)))
    assert "**5000 added, 0 modified, 0 deleted**" in said
    assert "- … and 4900 more" in said
    assert len(said) < 60_000


def test_a_body_about_a_whole_fleet() -> None:
    """Each list has the number of what it leaves out, and no part hides another."""
    paths = tuple(f"store-{number:05}/app/reconciler.yaml" for number in range(5_000))
    foreign = tuple(f"store-{number:05}/app/notes.txt" for number in range(5_000))
    made = changes(
        deleted=paths, removed_folders=paths, existing_folders=6_000, foreign_deleted=foreign
    )
    warnings = [
        ProblemEntry(message=f"target {number}: {'bad ' * 20}", where=None, advice="")
        for number in range(100_000)
    ]
    left_out = LeftOutEntry.all_of(
        LeftOutApplication(f"app-{number}", is_missing=False, assignments=5_000)
        for number in range(1_000)
    )
    whole = body(text(made, warnings=warnings, left_out=left_out, allowed_by="ann"))
    assert len(whole) < 60_000
    assert "… and 4900 more cluster types" in whole
    assert "**5000 of 6000 assignments are removed.**" in whole
    assert whole.count("- … and 4900 more") == 1
    assert "- … and 900 more" in whole
    assert "- … and 99970 more" in whole
    (last,) = re.findall(r"_(\d+) more sections do not fit here; .*_\Z", whole)
    assert int(last) + whole.count("<details>") == 5_000


def commits(**given: object) -> CommitRange:
    return CommitRange(**{"repository": URL, "name": "main", "base": M, "head": OLD, **given})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (commits(total=1), "**1 commit** of `main` (`aaaaaaa` → `bbbbbbb`)"),
        (commits(total=0, behind=2), "**Back by 2 commits** of `main` (`aaaaaaa` → `bbbbbbb`)"),
        (
            commits(total=1, behind=2),
            "**1 commit forward, back by 2 commits** of `main` (`aaaaaaa` → `bbbbbbb`)",
        ),
        (commits(), "**Other commits** of `main`"),
    ],
)
def test_where_a_repository_moved(item: CommitRange, expected: str) -> None:
    before = lines(comparison=MaskedComparison(Comparison("dev")))
    assert lines(commits=[item]) == [*before, "", expected]


@pytest.mark.parametrize("title", ["meaning", "upstream"])
@pytest.mark.parametrize(
    "waiting_for", ["", "freeze until 14:00 UTC", "hold by bob: [skip ci] *x*"]
)
@pytest.mark.parametrize("before", ["", "hold by alice: incident 42"])
def test_a_present_text_says_what_keeps_it_out_as_a_new_one(
    before: str, waiting_for: str, title: TitleStyle
) -> None:
    present = body(text(waiting_for=before, title=title, auto_merge="squash"))
    wanted = body(text(waiting_for=waiting_for, title=title, auto_merge="squash"))
    for given in (present, present.replace("\n", "\r\n")):
        shown = with_waiting(given, waiting_for)
        assert shown.replace("\r\n", "\n") == wanted
        assert with_waiting(shown, waiting_for) == shown
        assert says_waiting(shown) == bool(waiting_for)
    assert with_waiting("Text of a person", waiting_for) == "Text of a person"


def test_long_subjects_and_values_are_cut() -> None:
    subject = CommitSubject(OLD, "@x [skip ci] " * 5_000, f"{URL}/commit/{OLD}")
    names = tuple(AssignmentName("dev", "c", f"t{number}") for number in range(9))
    value = ValueChange(("A", "b"), names, None, SetValue(["y" * 100_000], None))
    comparison = Comparison("dev", values=(value,) * 60, withheld=(Withheld(URL, values=3),))
    said = body(
        text(
            commits=[commits(total=30, commits=(subject,), url=f"{URL}/compare")],
            comparison=MaskedComparison(comparison),
        )
    )
    assert len(said) < 20_000
    expected = (
        f"**30 commits** of `main` (`aaaaaaa` → `bbbbbbb`, [compare]({URL}/compare))\n\n"
        f"- [bbbbbbb]({URL}/commit/{OLD}) x \\(skip ci\\) x "
    )
    assert expected in said
    assert "\n- … and 29 older commits\n\n<details>\n" in said
    assert "`c/t0, c/t1 and 7 more`" in said
    assert "\n\n… and 10 more values\n\n</details>\n\n3 configuration values changed" in said
