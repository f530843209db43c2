"""The sandbox's pages for people, by HTTP alone."""

from __future__ import annotations

import base64
import hashlib
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from kalypso_actions.rendering.functions import to_yaml
from kalypso_go.gotemplate import DEFAULT_LIMITS, Budget
from kalypso_sandbox.azure import Cluster, Configuration
from kalypso_sandbox.pages import texts
from kalypso_sandbox.pages.drawing import Drawing
from kalypso_sandbox.pages.site import CSRF_FIELD, _heading
from kalypso_sandbox.store import BranchRule
from tests.sandbox.api_client import ApiClient, hub
from tests.sandbox.hostile_repository import BRANCH, HOSTILE, WORKFLOW, fill
from tests.sandbox.reader import HTML, Page, Reader
from tests.sandbox.served_sandbox import FLEET, Clock, ask
from tests.sandbox.workflow_runner.test_background import (
    PUSH,
    Steps,
    only,
    running,
    states,
    until,
)

HOME = f"/{FLEET}"

UNSAFE = re.compile(
    r"<(?!script>|style>)(?:script|style|img|iframe|object|svg|link|base)\b|<[^>]*\son\w+=",
    re.IGNORECASE,
)
"""Elements that could run or load something, and handlers, except the page's own two elements."""


@pytest.fixture
def reader(github: ApiClient) -> Reader:
    return Reader(github.sandbox)


def unsafe_parts(page: Page) -> list[str]:
    """Return what could run, load or lead a form elsewhere, if a browser took the page as HTML."""
    if not page.headers["Content-Type"].startswith("text/html"):
        return []
    scripts = [tag for tag, _ in page.elements if tag == "script"]
    handlers = [name for _, given in page.elements for name in given if name.startswith("on")]
    loading = {"img", "iframe", "object", "svg", "link", "base", "embed"}
    found = [tag for tag, _ in page.elements if tag in loading]
    schemes = [
        link
        for link in page.links
        if re.match(r"\s*(javascript|data|vbscript):", link, re.IGNORECASE)
    ]
    return [*scripts[1:], *handlers, *found, *schemes]


def test_every_page_of_a_hostile_repository_opens_and_runs_nothing(
    github: ApiClient, reader: Reader
) -> None:
    number = fill(github)
    path = f"{HOSTILE[:30].replace('/', '')}.yaml"
    head = github.commit("main", {path: f"a: {HOSTILE}\n", "README.md": HOSTILE}, HOSTILE)
    issue = github.made(
        "POST", "issues", {"title": HOSTILE, "body": HOSTILE, "labels": [HOSTILE[:50]]}
    )
    github.made("POST", f"issues/{number}/comments", {"body": HOSTILE})
    seen: set[str] = set()
    waiting = ["/", f"{HOME}/issues/{issue['number']}", f"{HOME}/commit/{head}"]
    while waiting:
        link = waiting.pop()
        page = reader.open(link)
        assert (page.status, unsafe_parts(page)) == (200, []), link
        if "/raw/" in link:
            assert page.headers["Content-Type"].startswith("text/plain")
            continue
        assert [page.source.count(f"</{each}>") for each in ("title", "style", "main")] == [1, 1, 1]
        own = {each.partition("#")[0].partition("?")[0] for each in page.links}
        new = {each for each in own if each.startswith("/")} - seen
        seen |= new
        waiting += sorted(new)
    for end in (
        f"/pull/{number}",
        "/edit/",
        "/compare/",
        "/actions/runs/",
        "/blob/",
        "/settings/environments",
    ):
        assert any(end in each for each in seen), end
    assert HOSTILE in reader.open(f"{HOME}/pull/{number}").text
    assert f"from {BRANCH} into main" in reader.open(f"{HOME}/pull/{number}").text
    assert WORKFLOW.rpartition("/")[2] in reader.open(f"{HOME}/actions").text


def test_the_policy_allows_the_own_style_and_script_alone(reader: Reader) -> None:
    page = reader.open("/")
    policy = page.headers["Content-Security-Policy"]
    for tag in ("style", "script"):
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", page.source, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'; " in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert page.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("headers", "token", "status"),
    [
        ({}, True, 303),
        ({"Origin": "OWN", "Sec-Fetch-Site": "same-origin"}, True, 303),
        ({}, False, 403),
        ({"Origin": "https://evil.test"}, True, 403),
        ({"Origin": "null"}, True, 403),
        ({"Sec-Fetch-Site": "cross-site"}, True, 403),
        ({"Sec-Fetch-Site": "same-site"}, True, 403),
        ({"Host": "evil.test"}, True, 421),
        ({"Content-Type": "text/plain"}, True, 404),
    ],
)
def test_only_forms_of_the_own_pages_do_something(
    github: ApiClient, reader: Reader, headers: dict[str, str], token: bool, status: int
) -> None:
    form = reader.open(f"{HOME}/issues").form("/issues")
    data = {**form.fields, "title": "A"} | ({} if token else {CSRF_FIELD: "other"})
    given = {name: text.replace("OWN", github.sandbox.url) for name, text in headers.items()}
    answer = ask(github.sandbox, "POST", f"{HOME}/issues", headers=given, data=data)
    assert answer.status_code == status
    assert bool(github.repository.issues) == (status == 303)


def test_programs_get_the_answers_of_the_api(github: ApiClient) -> None:
    for path in ("/", HOME, f"{HOME}/pull/1", f"{HOME}/blob/main/README.md", "/acme"):
        answer = ask(github.sandbox, "GET", path, headers={"Accept": "*/*"})
        assert (answer.status_code, answer.json()["message"]) == (404, "Not Found")
    assert ask(github.sandbox, "GET", HOME, headers=HTML).status_code == 200
    assert {each.path for each in github.sandbox.traffic} >= {"/", HOME}
    assert all(each.status == 404 for each in github.sandbox.traffic if each.path == HOME)


def test_an_unchanged_page_is_not_sent_twice(github: ApiClient, reader: Reader) -> None:
    tag = reader.open(HOME).headers["ETag"]
    again = reader.open(HOME, **{"If-None-Match": tag})
    assert (again.status, again.source) == (304, "")
    assert again.headers["X-Sandbox-Time"]
    github.commit("main", {"a.txt": "1\n"})
    assert reader.open(HOME, **{"If-None-Match": tag}).status == 200


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        (f"{HOME}/tree/main/docs", 200, "a b.md"),
        (f"{HOME}/tree/main/docs/a b.md", 303, ""),
        (f"{HOME}/blob/main/docs", 303, ""),
        (f"{HOME}/blob/feature/x/README.md", 200, "other"),
        (f"{HOME}/tree/feature/x", 200, "feature/x"),
        (f"{HOME}/blob/main/gone.md", 404, "main has no file gone.md."),
        (f"{HOME}/tree/gone", 404, "There is no branch, tag or commit gone."),
        (f"{HOME}/commit/{'0' * 40}", 404, "There is no branch, tag or commit"),
        (f"{HOME}/pull/77", 404, "acme/fleet has no issue or pull request 77."),
        (f"{HOME}/actions/runs/77", 404, "acme/fleet has no run 77."),
        (f"{HOME}/actions/workflows/a.yaml", 404, "acme/fleet has no workflow a.yaml."),
        (f"{HOME}/edit/main/picture.bin", 404, "is not a text file of a branch"),
        (f"{HOME}/blob/main/picture.bin", 200, "A binary file."),
        (f"{HOME}/nothing/of/this", 404, ""),
        ("/acme/gone", 404, "There is no repository acme/gone."),
        ("/gone", 404, "There is no account gone with repositories."),
        ("/_sandbox", 303, ""),
    ],
)
def test_paths(github: ApiClient, reader: Reader, path: str, status: int, says: str) -> None:
    github.sandbox.commit(FLEET, {"docs/a b.md": "x\n", "picture.bin": b"\0\1"})
    github.branch("feature/x", {"README.md": "other\n"})
    page = reader.open(path)
    assert page.status == status
    assert says in page.text


def test_links_of_a_readme_lead_to_files(github: ApiClient, reader: Reader) -> None:
    text = "[a](guide/a.md#b) [up](../c.md) [root](/d.md) [top](#x) [else](//evil.test) ![p](p.png)"
    github.commit("main", {"docs/README.md": text})
    links = reader.open(f"{HOME}/tree/main/docs").links
    pages = [
        f"{HOME}/blob/main/{each}" for each in ("docs/guide/a.md#b", "c.md", "d.md", "docs/p.png")
    ]
    assert {*pages, "#x"} <= set(links)
    assert not any("evil" in link for link in links)


def test_a_file_is_edited_on_its_branch(github: ApiClient, reader: Reader) -> None:
    github.sandbox.commit(FLEET, {"a.txt": b"1\r\n2\r\n"})
    for path, written, wanted in (
        ("README.md", "more\r\nlines\r\n", b"more\nlines\n"),
        ("a.txt", "1\r\n3\r\n", b"1\r\n3\r\n"),
    ):
        editor = reader.open(f"{HOME}/edit/main/{path}")
        assert editor.form(path).fields["text"].strip() != ""
        page = reader.send(editor, path, text=written, into="branch", message="Say <more>")
        assert page.path == f"{HOME}/commit/{github.head('main')}"
        assert "Say <more>" in page.text
        assert github.git.files("main")[path] == wanted
        late = reader.send(editor, path, text="late", into="branch")
        assert (late.status, late.text.count("has changed since")) == (422, 1)
    assert [event.actor for event in github.events("push")][-1] == "somebody"
    editor = reader.open(f"{HOME}/edit/main/a.txt")
    same = reader.send(editor, "a.txt", into="branch")
    assert (same.status, "nothing has changed" in same.text) == (422, True)
    assert "Delete a.txt" in reader.send(editor, "a.txt", delete="1", into="branch").text
    assert "a.txt" not in github.git.files("main")


def test_a_new_file_becomes_a_pull_request(github: ApiClient, reader: Reader) -> None:
    page = reader.open(f"{HOME}/new/main/docs")
    fields = {"path": "docs/new.md", "text": "new\n", "message": "Explain", "body": "**Why**"}
    pull = reader.send(page, "/new/main/docs", **fields)
    assert pull.path == f"{HOME}/pull/1"
    assert "somebody wants to merge 1 commit from patch-1 into main" in pull.text
    assert "Why" in pull.text
    assert "+new" in pull.text
    assert github.actions() == ["opened"]
    assert "docs/new.md" not in github.git.files("main")
    offered = reader.open(f"{HOME}/new/main?filename=a/b.yaml&value=c%3A+%3Cd%3E")
    (form,) = offered.forms
    fields = form.fields
    assert (fields["path"], fields["text"]) == ("a/b.yaml", "c: <d>")
    there = reader.open(f"{HOME}/new/main?filename=README.md&value=x")
    assert there.location.endswith(f"{HOME}/edit/main/README.md")
    again = reader.open(f"{HOME}/new/main")
    assert again.form("/new/main").fields["branch"] == "patch-2"
    refused = reader.send(again, "/new/main", path="README.md", text="x")
    assert (refused.status, "README.md exists already" in refused.text) == (422, True)
    refused = reader.send(again, "/new/main", path="../x", text="x")
    assert (refused.status, "malformed" in refused.text) == (422, True)


def test_a_pull_request_from_opening_to_its_revert(github: ApiClient, reader: Reader) -> None:
    github.branch("change", {"README.md": "changed\n"})
    compare = reader.open(f"{HOME}/compare/main...change")
    pull = reader.send(compare, "/compare", title="Change it", body="- a\n- b")
    pull = reader.send(pull, "/comment", body="Looks *good*")
    assert "Looks good" in pull.text
    pull = reader.send(pull, "/state")
    assert "Closed without a merge." in pull.text
    pull = reader.send(pull, "/state")
    pull = reader.send(pull, "/merge", method="squash")
    assert "merged by somebody as" in pull.text
    assert github.git.files("main")["README.md"] == b"changed\n"
    github.commit("main", {"later.txt": "1\n"})
    back = reader.send(pull, "/revert")
    assert 'Revert "Change it" #2' in back.text
    reader.send(back, "/merge")
    assert github.git.files("main")["README.md"] == b"fleet\n"
    assert "later.txt" in github.git.files("main")
    pull = reader.send(reader.open(f"{HOME}/pull/1"), "/branch")
    assert github.git.head("change") is None
    assert "deleted the branch" in pull.text


def test_what_blocks_a_merge_is_said_and_holds(github: ApiClient, reader: Reader) -> None:
    github.branch("change", {"README.md": "changed\n"})
    number = github.propose("change")
    free = reader.open(f"{HOME}/pull/{number}")
    assert "✓ It can be merged." in free.text
    status = {"state": "failure", "context": "kalypso / preview"}
    github.made("POST", f"statuses/{github.head('change')}", status)
    told = "It can be merged, but a check is not successful: kalypso / preview."
    assert told in reader.open(f"{HOME}/pull/{number}").text
    github.repository.rules = [BranchRule(pattern="main", required_contexts=["kalypso / ci"])]
    pull = reader.open(f"{HOME}/pull/{number}")
    assert 'Merging is blocked: Required status check "kalypso / ci" is expected.' in pull.text
    assert pull.form("/merge").buttons == []
    refused = reader.send(free, "/merge")
    assert (refused.status, "kalypso / ci" in refused.text) == (422, True)
    github.repository.rules = []
    github.commit("change", {"README.md": "newer\n"})
    stale = reader.send(free, "/merge")
    assert (stale.status, "Head branch was modified" in stale.text) == (422, True)
    github.commit("main", {"README.md": "conflict\n"})
    assert "There are conflicts with main." in reader.open(f"{HOME}/pull/{number}").text


def test_a_workflow_is_started_with_its_inputs(github: ApiClient, reader: Reader) -> None:
    inputs = "{a: {required: true, description: About a}, f: {type: boolean, default: 'true'}, "
    inputs += "b: {type: choice, options: [x, y], default: y}}"
    github.commit("main", {WORKFLOW: f"name: A\non: {{workflow_dispatch: {{inputs: {inputs}}}}}\n"})
    page = reader.open(f"{HOME}/actions/workflows/a.yaml")
    assert "a About a f (optional) falsetrue b (optional) xy" in page.text
    fields = {"input-a": "one", "input-b": "x", "input-f": "false"}
    page = reader.send(page, "/workflows/a.yaml", **fields)
    (run,) = github.repository.runs
    assert (run.inputs, run.author) == ({"a": "one", "b": "x", "f": "false"}, "somebody")
    assert "a: one, b: x" in page.text
    shown = reader.open(f"{HOME}/commit/main").text
    assert "workflow dispatch" not in shown
    reader.send(page, "/workflows/a.yaml", **{"input-a": github.head("main")})
    assert "workflow dispatch" in reader.open(f"{HOME}/commit/main").text
    refused = reader.send(page, "/workflows/a.yaml", **{"input-a": ""})
    assert (refused.status, "'a' not provided" in refused.text) == (422, True)
    assert "one" in reader.open(f"{HOME}/actions/runs/{run.id}").text


@pytest.mark.parametrize(
    ("summary", "told"),
    [
        ("## kalypso cd: 1234567 waits for stage: hold by a\\_b\n\nText", "1234567 waits for stage: hold by a_b"),
        ("Text\n# Tests of `web`\n## More", "Tests of web"),
        ("no heading", ""),
    ],
)  # fmt: skip
def test_what_a_run_says_first(summary: str, told: str) -> None:
    assert _heading(summary) == told


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("**a** `b`", "<p><strong>a</strong> <code>b</code></p>"),
        ("# a\n\n### b\n\n# c", "<h3>a</h3> <h4>b</h4> <h3>c</h3>"),
        ("### a\n\n#### b\n\n#### c", "<h3>a</h3> <h4>b</h4> <h4>c</h4>"),
        (
            '```mermaid\nflowchart LR\n  n0["main<br/>1234567"]\n  n1["d#60;v"]\n  n2["qa"]\n'
            "  n0 --> n1\n  n1 --> n2\n  classDef failed stroke:#cf222e\n  class n1 failed\n```",
            "<ul><li>main 1234567 → ✗ d&lt;v → qa</li></ul>",
        ),
        ("```mermaid\npie\n```", "<pre><code>pie"),
        (
            '```mermaid\n  n0["#55296;#0;#9999999999; x --> y"]\n  n0 --> n1\n  n2 --> n1\n'
            "  n1 --> n3\n  n1 --> n4\n```",
            "<ul><li>\ufffd\ufffd#9999999999; x --&gt; y → n1 → n3</li><li>n2 → n1 → n4</li></ul>",
        ),
        ("a\u200b:2", "<p>a:2</p>"),
        ("| a |\n|---|\n| b |", "<table> <thead> <tr> <th>a</th>"),
        ("<details><summary>s</summary>\n\n- t\n</details>", "<details><summary>s</summary>"),
        ("<!-- mark -->a", "a"),
        ("[a](javascript:alert(1))", "[a](javascript:alert(1))"),
        ('<a href="javascript:alert(1)">a</a>', '<a rel="noopener noreferrer">a</a>'),
        ('<a href="data:text/html,x">a</a>', '<a rel="noopener noreferrer">a</a>'),
        ("![a](https://evil.test/p.png)", '<a href="https://evil.test/p.png" rel="noopener'),
        ("<img src=x onerror=alert(1)>b", "<p>b</p>"),
        ("<script>alert(1)</script>b", "b"),
        ("<form action=/x><button>b</button></form>", "b"),
        ("<svg><style>@import 'x'</style></svg>", "<p></p>"),
        ('<p id="main" class="top" style="color:red" data-live>b</p>', "<p>b</p>"),
        ("```diff\n-<b>\n+a\n```", '<span class="gd">-&lt;b&gt;'),
        ("```<script>\nx\n```", "<pre><code>x"),
    ],
)
def test_markdown(text: str, wanted: str) -> None:
    shown = " ".join(texts.markdown(text).split())
    assert wanted in shown
    assert not UNSAFE.search(shown)


@pytest.mark.parametrize("line", ["  a{0} --> b{0}\n", '  a["'])
def test_long_diagrams_take_no_time(line: str) -> None:
    text = "".join(line.format(number) for number in range(20_000))
    start = time.process_time()
    texts.markdown(f"```mermaid\n{text}\n```")
    assert time.process_time() - start < 2


def test_long_diffs_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "MAX_DIFF_LINES", 3)
    with hub(tmp_path) as github:
        commit = github.commit("main", {"a.md": "1\n2\n3\n4\n", "b.md": "5\n"})
        shown = Reader(github.sandbox).open(f"{HOME}/commit/{commit}").text
    assert "+1 +2 \\ 2 more lines are not shown" in shown
    assert "b.md added +1 −0 \\ 2 more lines are not shown" in shown


def test_the_pipeline_is_drawn_while_somebody_looks() -> None:
    begins, drawn, ends = (threading.Event() for _ in range(3))
    drawings: list[str] = []

    def draw() -> str:
        assert begins.wait(60)
        drawings.append(f"<p>{len(drawings)}</p>")
        return drawings[-1]

    def pause(_: float) -> Any:
        drawn.set()
        return ends.wait(60)

    drawing = Drawing(draw, pause)
    assert drawing.html() == ""
    begins.set()
    assert drawn.wait(60)
    assert drawing.html() == "<p>0</p>"
    assert not drawing.is_old
    stopped(drawing, ends)
    assert len(drawings) == 1
    for event in (begins, drawn, ends):
        event.clear()
    assert drawing.html() == "<p>0</p>"
    assert drawing.is_old
    begins.set()
    assert drawn.wait(60)
    assert not drawing.is_old
    assert drawing.html() == "<p>1</p>"
    stopped(drawing, ends)


def stopped(drawing: Drawing, ends: threading.Event) -> None:
    ends.set()
    thread = drawing._thread
    assert thread is not None
    thread.join(60)
    assert not thread.is_alive()


ENVIRONMENT_JOB = (
    "name: Check\non: push\njobs: {one: {environment: dev, steps: "
    "[{uses: kalypso-actions/kalypso-actions/actions/ci@v0, with: {environment: dev}}]}}\n"
)


def test_a_run_is_approved_cancelled_and_run_again(tmp_path: Path) -> None:
    steps = Steps()
    with running(tmp_path, steps, {"ci": ENVIRONMENT_JOB}) as (sandbox, runner):
        reader = Reader(sandbox)
        settings = reader.open(f"{HOME}/settings/environments")
        settings = reader.send(settings, "/environments", environment="dev", approval="yes")
        assert "Its jobs wait until a person approves." in settings.text
        sandbox.commit(FLEET, {"a": "1"}, message=f"Add {HOSTILE}")
        until(lambda: states(sandbox) == ["waiting"])
        path = f"{HOME}/actions/runs/{only(sandbox).id}"
        waiting = reader.open(path)
        assert f"Add {HOSTILE}" in waiting.text
        reader.send(waiting, "/approve")
        until(lambda: steps.begun)
        page = reader.open(path)
        assert re.search(
            r"one ● in progress · environment dev .* ● in progress ci .* ci of ghs_", page.text
        )
        refused = reader.send(waiting, "/approve")
        assert (refused.status, "does not wait for a person" in refused.text) == (422, True)
        reader.send(page, "/cancel")
        until(runner.is_idle)
        page = reader.open(path)
        assert "✗ cancelled Check · push by somebody" in page.text
        assert "somebody cancelled it" in page.text
        steps.go.set()
        reader.send(page, "/rerun")
        until(lambda: states(sandbox) == ["waiting"])
        reader.send(reader.open(path), "/approve")
        until(runner.is_idle)
        folder = tmp_path / "runs" / only(sandbox).jobs[0].steps[0].folder
        (folder / "summary.md").write_text(f"# Done {HOSTILE}\n\n**well**\n")
        page = reader.open(path)
        assert "attempt 2 by somebody" in page.text
        assert "SummaryDone well" in page.text
        assert unsafe_parts(page) == []
        commit = reader.open(f"{HOME}/commit/{only(sandbox).commit}")
        assert path in commit.links


def test_a_cron_starts_by_a_button(tmp_path: Path) -> None:
    steps = Steps()
    steps.go.set()
    file = ENVIRONMENT_JOB.replace("push", "{schedule: [{cron: '5 4 * * *'}]}")
    with running(tmp_path, steps, {"poll": file}) as (sandbox, _):
        reader = Reader(sandbox)
        page = reader.open(f"{HOME}/actions/workflows/poll.yaml")
        assert "The clock starts it at 5 4 * * *, next at Mar 02, 04:05:00." in page.text
        reader.send(page, "/cron")
        until(lambda: states(sandbox) == ["success"])
        assert only(sandbox).event == "schedule"


def test_a_workflow_of_another_branch_has_a_page(tmp_path: Path) -> None:
    steps = Steps()
    steps.go.set()
    with running(tmp_path, steps) as (sandbox, _):
        reader = Reader(sandbox)
        sandbox.commit(FLEET, {WORKFLOW: f"name: Other\n{PUSH}"}, branch="dev")
        until(lambda: states(sandbox) == ["success"])
        run = reader.open(f"{HOME}/actions/runs/{only(sandbox).id}")
        (link,) = [each for each in run.links if "/workflows/" in each]
        page = reader.open(link)
        assert (page.status, "Other · push by somebody" in page.text) == (200, True)
        assert [reader.open(each).status for each in page.links if WORKFLOW in each] == []
        assert page.forms == []
        assert reader.open(f"{HOME}/actions/workflows/none.yaml").status == 404


def test_a_run_of_the_demo_leads_to_no_workflow(github: ApiClient, reader: Reader) -> None:
    github.commit("main", {"a": "1"})
    event = github.sandbox.store.events[-1]
    page = reader.open(f"{HOME}/actions/runs/{event.id}")
    assert "The demo ran it." in page.text
    assert [each for each in page.links if "/workflows/" in each] == []


def test_nothing_runs_without_a_runner(github: ApiClient, reader: Reader) -> None:
    github.commit("main", {WORKFLOW: "name: A\non: workflow_dispatch\n"})
    page = reader.open(f"{HOME}/actions/workflows/a.yaml")
    page = reader.send(page, "/workflows/a.yaml")
    assert "No workflow runs here: start the sandbox with --run." in page.text
    (run,) = github.repository.runs
    page = reader.open(f"{HOME}/actions/runs/{run.id}")
    assert "● queued" in page.text
    assert page.forms == []


def test_the_example_of_a_failing_text_is_as_files_have_it(tmp_path: Path) -> None:
    with hub(tmp_path) as github:
        follows = Configuration(repository=FLEET, branch="main", paths=["./edge"])
        github.sandbox.azure.put(Cluster(name="berlin", configurations=[follows]))
        page = Reader(github.sandbox).open("/clusters")
    (example,) = [given["placeholder"] for _, given in page.elements if "placeholder" in given]
    assert to_yaml(Budget(DEFAULT_LIMITS), yaml.safe_load(example)) == example


def test_clusters_are_broken_mended_added_and_deleted(tmp_path: Path) -> None:
    clock = Clock()
    with hub(tmp_path, clock=clock) as github:
        reader = Reader(github.sandbox)
        follows = Configuration(repository=FLEET, branch="main", paths=["./edge"])
        for name in ("berlin", "paris & <lyon>"):
            github.sandbox.azure.put(Cluster(name=name, configurations=[follows]))
        head = github.commit("main", {"edge/a.yaml": "size: 1\n"})
        page = reader.open("/clusters")
        assert "2/2 are ready with it" in page.text
        page = reader.send(page, "/berlin/fail", text="size: 1")
        assert "berlin ✗ failing fails at size: 1" in page.text
        assert "the configuration has size: 1 edge/a.yaml, line 1" in page.text
        assert f"{HOME}/blob/{head}/edge/a.yaml#L1" in page.links
        assert "1/2 are ready with it" in page.text
        page = reader.send(page, "/berlin/fail", text='size: "1"')
        assert "No file that it applies has this text, so it does not fail." in page.text
        page = reader.send(page, "/berlin/mend")
        assert "2/2 are ready with it" in page.text
        clock.advance(minutes=7)
        page = reader.send(page, "/berlin/offline")
        assert "berlin ✗ offline since Mar 01, 12:07:00" in page.text
        page = reader.send(page, "/paris%20%26%20%3Clyon%3E/stall")
        clock.advance(seconds=1)
        github.commit("main", {"edge/a.yaml": "size: 2\n"})
        page = reader.open("/clusters")
        assert f"runs {head[:7]} behind the branch" in page.text
        page = reader.send(page, "/clusters", name="rome", like="berlin")
        assert "rome ✓ ready" in page.text
        refused = reader.send(page, "/clusters", name="rome", like="berlin")
        assert (refused.status, "already a cluster 'rome'" in refused.text) == (422, True)
        page = reader.send(page, "/berlin/delete")
        assert "berlin" not in page.text
        assert unsafe_parts(page) == []
