from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.promotion.base_repo import with_commit

COMMIT = "c" * 40
WHERE = Location("https://github.com/acme/fleet", "base-repo.yaml")


def edited(text: str | None, commit: str = COMMIT) -> str:
    return with_commit(
        text, commit, repo="https://github.com/acme/fleet", branch="main", where=WHERE
    )


def test_a_new_file_has_upstreams_fields_in_upstreams_order() -> None:
    assert edited(None) == (
        "apiVersion: scheduler.kalypso.io/v1alpha1\n"
        "kind: BaseRepo\n"
        "metadata:\n"
        "  name: main\n"
        "spec:\n"
        "  repo: https://github.com/acme/fleet\n"
        "  branch: main\n"
        "  path: .\n"
        f"  commit: {COMMIT}\n"
    )


HEAD = "kind: BaseRepo\nmetadata: {name: main}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (HEAD + "spec:\n  repo: x\n  commit: a # pinned\n  path: .\n", HEAD + "spec:\n  repo: x\n  commit: CC # pinned\n  path: .\n"),
        (HEAD + "spec:\n  commit: 'a'\n", HEAD + "spec:\n  commit: CC\n"),
        (HEAD + "spec:\n  commit:\n", HEAD + "spec:\n  commit: CC\n"),
        (HEAD + "spec:\n  commit: ~\n", HEAD + "spec:\n  commit: CC\n"),
        (HEAD + "spec:\n    repo: x # here\n\n# end\n", HEAD + "spec:\n    repo: x # here\n    commit: CC\n\n# end\n"),
        (HEAD + "spec:\n  repo: x", HEAD + "spec:\n  repo: x\n  commit: CC\n"),
        (HEAD + "spec: {repo: x }\n", HEAD + "spec: {repo: x, commit: CC}\n"),
        (HEAD + "spec: {}\n", HEAD + "spec: {commit: CC}\n"),
        (HEAD + "spec:\n  repo: |\n    x\n---\nkind: Other\n", HEAD + "spec:\n  repo: |\n    x\n  commit: CC\n---\nkind: Other\n"),
        ("kind: Other\nspec: {commit: a}\n---\n" + HEAD + "spec: {commit: a}\n", "kind: Other\nspec: {commit: a}\n---\n" + HEAD + "spec: {commit: CC}\n"),
        ("kind: List\nitems:\n- kind: BaseRepo\n  metadata: {name: main}\n  spec:\n    repo: x\n- kind: Other\n", "kind: List\nitems:\n- kind: BaseRepo\n  metadata: {name: main}\n  spec:\n    repo: x\n    commit: CC\n- kind: Other\n"),
        ("kind: BaseRepoList\nitems: [{kind: BaseRepo, metadata: {name: main}, spec: {commit: a}}]\n", "kind: BaseRepoList\nitems: [{kind: BaseRepo, metadata: {name: main}, spec: {commit: CC}}]\n"),
        ("kind: List\nitems:\n- kind: List\n  items:\n  - kind: BaseRepo\n    metadata: {name: main}\n    spec: {commit: a}\n", "kind: List\nitems:\n- kind: List\n  items:\n  - kind: BaseRepo\n    metadata: {name: main}\n    spec: {commit: CC}\n"),
        ("kind: BaseRepo\r\nmetadata: {name: main}\r\nspec:\r\n  repo: x\r\n", "kind: BaseRepo\r\nmetadata: {name: main}\r\nspec:\r\n  repo: x\r\n  commit: CC\r\n"),
    ],
)  # fmt: skip
def test_only_the_commit_changes(before: str, after: str) -> None:
    assert edited(before) == after.replace("CC", COMMIT)


@pytest.mark.parametrize("before", ["", "# ours\n", "# ours", "---\n"])
def test_a_file_without_documents_gets_one(before: str) -> None:
    assert edited(before).endswith(edited(None))
    assert edited(before).startswith(before)


def test_another_base_repo_stays() -> None:
    other = "kind: BaseRepo\nmetadata: {name: shared}\nspec: {commit: a}"
    assert edited(other) == other + "\n---\n" + edited(None)


@pytest.mark.parametrize(
    ("before", "message"),
    [
        (HEAD + "spec:\n  repo: &one a\n  commit: *one\n", "cannot be set without another change"),
        (HEAD + "spec: {commit: a}\n---\n" + HEAD + "spec: {commit: b}\n", "defined twice"),
        (
            "kind: List\nitems:\n- {kind: BaseRepo, metadata: {name: main}, spec: {}}\n---\n"
            + HEAD
            + "spec: {}\n",
            "defined twice",
        ),
        ("a: [", "it is not valid YAML"),
        (HEAD + "spec:\n", "has no spec to write a commit into"),
        (HEAD, "has no spec to write a commit into"),
    ],
)
def test_a_file_that_cannot_be_edited_is_refused(before: str, message: str) -> None:
    with pytest.raises(KalypsoError, match=message) as caught:
        edited(before)
    assert caught.value.problem.where == WHERE


@pytest.mark.parametrize(
    "branch",
    [
        "main",
        "release/1.x",
        "1.0",
        "2024",
        "null",
        "on",
        "2024-01-01",
        "@x",
        "!x",
        "%x",
        "a'b",
        'a"',
    ],
)
def test_the_name_of_mains_branch_stays_a_string(branch: str) -> None:
    text = with_commit(
        None, COMMIT, repo="https://github.com/acme/fleet", branch=branch, where=WHERE
    )
    assert yaml.safe_load(text)["spec"]["branch"] == branch


@pytest.mark.parametrize("commit", ["1" * 40, "12e45" + "6" * 35, "0" * 40, "a" * 40])
def test_a_commit_id_stays_a_string(commit: str) -> None:
    document = yaml.safe_load(edited(None, commit))
    assert document["spec"]["commit"] == commit
    assert ('"' in edited(None, commit)) == (commit != "a" * 40)


keys = st.text("abcxyz", min_size=1, max_size=4).filter(lambda key: key != "commit")
values = st.one_of(
    st.integers(), st.text(max_size=9), st.none(), st.lists(st.text(max_size=3), max_size=2)
)


@given(
    spec=st.dictionaries(keys, values, max_size=4),
    commit=st.none() | st.text("0123456789abcdef", min_size=40, max_size=40),
    flow=st.sampled_from([True, False, None]),
    others=st.lists(st.fixed_dictionaries({"kind": st.just("Other"), "data": values}), max_size=2),
    position=st.integers(0, 2),
)
def test_everything_else_reads_as_before(
    spec: dict[str, object],
    commit: str | None,
    flow: bool | None,
    others: list[dict[str, object]],
    position: int,
) -> None:
    if commit is not None:
        spec = {**spec, "commit": commit}
    main = {"kind": "BaseRepo", "metadata": {"name": "main"}, "spec": spec}
    documents = [*others[:position], main, *others[position:]]
    text = yaml.safe_dump_all(documents, default_flow_style=flow, sort_keys=False)
    wanted = [
        {**document, "spec": {**spec, "commit": COMMIT}} if document is main else document
        for document in documents
    ]
    assert list(yaml.safe_load_all(edited(text))) == wanted
    assert edited(edited(text)) == edited(text)
