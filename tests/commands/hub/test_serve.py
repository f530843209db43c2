"""`kalypso hub serve`: its answers, from the record and from PostgreSQL, and what it refuses."""

from __future__ import annotations

import hmac
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import requests
import uvicorn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kalypso_actions.clients.postgresql import PostgresDatabase, connect
from kalypso_actions.commands.hub.api import _guard, create_app, is_endpoint
from kalypso_actions.commands.hub.serve import DatabaseSource, address
from kalypso_actions.commands.shared.record import ask
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.inputs.chain import HubServeInputs
from kalypso_actions.observations.projection import Database
from tests.breaks import breaks, replaced, turned
from tests.command_line import call_kalypso
from tests.commands.hub.records import DEV, Recorder, hub_load, story
from tests.observations.test_record import AT
from tests.postgres import TestDatabase

ENDPOINT = "https://github.com/acme/shop-gitops/dev/functional-test"


class Recorded:
    """Asks a record in a folder, as the product does for each question."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._head = recorder.branch.head()

    def ask(self, question: Callable[[Database], Any]) -> Any:
        cache = {"XDG_CACHE_HOME": str(self._recorder.folder.parent)}
        return ask(self._recorder.branch, self._head, cache, question)


@contextmanager
def served(source: Any, token: str = "") -> Iterator[str]:
    """Serve on a free port of loopback, and yield the URL."""
    app = create_app(source, lambda: datetime(2026, 3, 1, 13, tzinfo=UTC), token)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(params=["record", "database"])
def url(
    request: pytest.FixtureRequest, recorder: Recorder, database: TestDatabase
) -> Iterator[str]:
    story(recorder)
    source: Any = Recorded(recorder)
    if request.param == "database":
        hub_load(recorder.branch, database)
        source = DatabaseSource(HubServeInputs(database_url=database.url), {})
    with served(source) as url:
        yield url


def items(url: str, path: str, **parameters: str) -> list[Any]:
    answer = requests.get(f"{url}/v1/{path}", parameters, timeout=60)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["items"])


def test_questions(url: str) -> None:
    state = items(url, "state", target="functional-test")
    assert [(each["cluster"], each["status"]) for each in state] == [
        ("Drone-1", "success"),
        ("drone-2", "failure"),
    ]
    assert len(items(url, "state", name="0.0.2")) == 1
    assert len(items(url, "state", cluster="DRONE-1", status="success")) == 2
    then = items(url, "state", at=f"{AT:%Y-%m-%dT%H:%M:%SZ}")
    assert len(then) == 6
    history = items(url, "history", target="functional-test")
    assert [(each["version"], each["clusters"]["success"]) for each in history] == [
        ("0.0.1", 1),
        ("0.0.2", 1),
        ("0.0.1", 3),
    ]
    runs = items(url, "history", cluster="drone-2", target="functional-test")
    assert [each["status"] for each in runs] == ["failure", "success"]
    assert items(url, "drift")[0]["kind"] == "failing"
    (figures,) = [each for each in items(url, "delivery") if each["scope"]["kind"] == "environment"]
    assert figures["lead_time"]["values"] == [600]
    rollouts = items(url, "rollouts", target="functional-test")
    assert [(each["version"], each["arrived"], each["failed"]) for each in rollouts] == [
        ("0.0.1", 1, 0),
        ("0.0.2", 1, 1),
        ("0.0.1", 3, 0),
    ]


def test_the_state_of_a_deployment(url: str) -> None:
    first, second = f"{1:040x}", f"{3:040x}"
    for endpoint, commit, numbers in [
        (ENDPOINT, second, (2, 1, 1, 0)),
        (f"{ENDPOINT.replace('gitops/', 'gitops.git/')}/", f"dev@sha1:{second}", (2, 1, 1, 0)),
        (ENDPOINT, f"dev/{first}", (2, 2, 0, 0)),
        ("https://github.com/acme/gitops/dev/./small", f"sha1:{2:040x}", (2, 2, 0, 0)),
        (ENDPOINT, "f" * 40, (2, 0, 0, 0)),
        (ENDPOINT.replace("dev", "stage"), first, (0, 0, 0, 0)),
    ]:
        answer = requests.post(
            f"{url}/deployment_state",
            json={"manifests_endpoint": endpoint, "commit_id": commit},
            timeout=60,
        ).json()
        names = ("", "_succeeded", "_failed", "_in_progress")
        assert tuple(answer[f"total{name}_subscribers"] for name in names) == numbers, endpoint
    answer = requests.post(
        f"{url}/deployment_state",
        json={"manifests_endpoint": ENDPOINT, "commit_id": second},
        timeout=60,
    ).json()
    assert answer["failed_subscribers"] == [{"name": "drone-2", "status_message": "out of memory"}]
    assert answer["succeeded_subscribers"] == [{"name": "Drone-1", "status_message": ""}]
    bad = {"manifests_endpoint": ENDPOINT, "commit_id": "main"}
    assert requests.post(f"{url}/deployment_state", json=bad, timeout=60).status_code == 400


def test_metrics_and_health(url: str) -> None:
    text = requests.get(f"{url}/metrics", timeout=60).text
    labels = 'cluster_type="small",environment="dev"'
    assert f'kalypso_clusters{{{labels},relation="current",status="success"}} 1.0' in text
    assert f'kalypso_clusters{{{labels},relation="unknown",status="failure"}} 1.0' in text
    assert 'kalypso_observation_age_seconds{environment="dev"} 3420.0' in text
    assert 'kalypso_deployments_total{environment="dev"} 2.0' in text
    assert requests.get(f"{url}/healthz", timeout=60).json() == {"status": "ok"}


@pytest.mark.parametrize("path", ["state", "history", "drift", "delivery", "rollouts"])
def test_the_first_year_is_before_the_record(url: str, path: str) -> None:
    assert all("scope" in each for each in items(url, path, at="0001-01-01"))


texts = st.text(max_size=30) | st.sampled_from(
    [
        "'; drop table period; --",
        "%",
        "_",
        "?",
        "$1",
        "{0}",
        "\x00",
        "9" * 40,
        "0001-01-01",
        "99999w",
    ]
)
PATHS = ("state", "history", "drift", "delivery", "rollouts")
NAMES = ("name", "environment", "target", "cluster", "status", "kind", "since", "at", "offset")


def test_no_text_breaks_a_question(url: str) -> None:
    with requests.Session() as session:

        @settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
        @given(st.sampled_from(PATHS), st.dictionaries(st.sampled_from(NAMES), texts, max_size=4))
        def ask_anything(path: str, parameters: dict[str, str]) -> None:
            encoded = {
                name: text.encode("utf-8", "surrogatepass") for name, text in parameters.items()
            }
            answer = session.get(f"{url}/v1/{path}", params=encoded, timeout=60)
            assert answer.status_code in {200, 400, 422}, (answer.status_code, answer.text)

        @settings(deadline=None, max_examples=20, suppress_health_check=list(HealthCheck))
        @given(texts, texts, texts)
        def post_anything(endpoint: str, commit: str, at: str) -> None:
            body = {"manifests_endpoint": endpoint, "commit_id": f"{commit}/{1:040x}", "at": at}
            answer = session.post(f"{url}/deployment_state", json=body, timeout=60)
            assert answer.status_code in {200, 400, 422}, (answer.status_code, answer.text)

        ask_anything()
        post_anything()
    assert len(items(url, "state")) == 4


@breaks("foreign names are served", turned(_guard, "name not in LOOPBACK", "False"))
@breaks("bodies have no bound", turned(_guard, "int(length) > LARGEST_BODY", "False"))
@breaks("a wrong token is taken", turned(_guard, "not is_known", "False"))
def test_what_is_refused(recorder: Recorder) -> None:
    story(recorder)
    source = Recorded(recorder)
    with served(source) as url:
        for host, status in [("evil.example", 403), ("localhost:1", 200), ("127.0.0.1", 200)]:
            answer = requests.get(f"{url}/healthz", headers={"host": host}, timeout=60)
            assert answer.status_code == status, host
        large = requests.post(f"{url}/deployment_state", data=b"x" * 70_000, timeout=60)
        assert large.status_code == 413
        for method in ("put", "delete", "patch", "post"):
            assert requests.request(method, f"{url}/v1/state", timeout=60).status_code == 405
    with served(source, "hunter2") as url:
        foreign = {"host": "hub.acme.example"}
        cases: list[tuple[str, dict[str, str], int]] = [
            ("/healthz", {}, 200),
            ("/metrics", {}, 401),
            ("/v1/state", {}, 401),
            ("/v1/state", {"authorization": "Bearer hunter"}, 401),
            ("/v1/state", {"authorization": "Bearer hunter2"}, 200),
        ]
        for path, token, status in cases:
            answer = requests.get(f"{url}{path}", headers=foreign | token, timeout=60)
            assert answer.status_code == status, (path, token)


KNOWN_TOKEN = "hmac.compare_digest(given, f'Bearer {token}'.encode())"


@breaks(
    "the time of a comparison tells the token",
    turned(_guard, KNOWN_TOKEN, "given == f'Bearer {token}'.encode()"),
)
def test_a_token_is_compared_in_constant_time(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    story(recorder)
    compared = []

    def compare(given: bytes, known: bytes) -> bool:
        compared.append((given, known))
        return False

    monkeypatch.setattr(hmac, "compare_digest", compare)
    with served(Recorded(recorder), "hunter2") as url:
        headers = {"authorization": "Bearer \xfc"}
        assert requests.get(f"{url}/metrics", headers=headers, timeout=60).status_code == 401
    assert compared == [("Bearer \xfc".encode(), b"Bearer hunter2")]


@breaks(
    "a question may write",
    replaced(connect, lambda real, *given, **_: real(*given)),
    replaced(PostgresDatabase.read, lambda _real, *_given: None),
)
def test_a_question_cannot_write(recorder: Recorder, database: TestDatabase) -> None:
    story(recorder)
    hub_load(recorder.branch, database)
    source = DatabaseSource(HubServeInputs(database_url=database.url), {})

    def change(tables: Database) -> None:
        tables.script("delete from kalypso_hub_v1.period")

    with pytest.raises(KalypsoError, match="read-only"):
        source.ask(change)


def test_a_database_needs_no_control_plane(
    database: TestDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call_kalypso("hub", "serve", "--database-url", database.url)
    assert (done.returncode, "is not loaded by this release" in done.stderr) == (1, True), done


@breaks("a page has no end", turned(create_app, "found[begin:end]", "found[begin:]"))
@breaks("each page is the first", turned(create_app, "found[begin:end]", "found[:end]"))
def test_a_page_has_500_items(recorder: Recorder) -> None:
    recorder.merge(DEV, "a", "0.0.1")
    for number in range(501):
        recorder.run(f"drone-{number:03}", DEV, "a")
    recorder.look()
    with served(Recorded(recorder)) as url:

        def page(offset: int) -> requests.Response:
            return requests.get(f"{url}/v1/state", {"offset": str(offset)}, timeout=60)

        first, second, behind = (page(offset).json() for offset in (0, 500, 501))
        assert (len(first["items"]), first["next"]) == (500, 500)
        assert [each["cluster"] for each in second["items"]] == ["drone-500"]
        assert (second["next"], behind["items"], behind["next"]) == (None, [], None)
        assert [page(offset).status_code for offset in (-1, 10_000_001)] == [422, 422]


@breaks("everybody is served without a token", turned(address, "not is_loopback", "False"))
@pytest.mark.parametrize(
    ("listen", "has_token", "expected"),
    [
        ("127.0.0.1:8080", False, ("127.0.0.1", 8080)),
        ("[::1]:0", False, ("::1", 0)),
        ("localhost:1", False, ("localhost", 1)),
        ("0.0.0.0:8080", True, ("0.0.0.0", 8080)),
        ("0.0.0.0:8080", False, None),
        ("hub.acme.example:80", False, None),
        ("127.0.0.1", False, None),
        (":8080", True, None),
        ("127.0.0.1:99999", True, None),
    ],
)
def test_only_loopback_is_served_without_a_token(
    listen: str, has_token: bool, expected: tuple[str, int] | None
) -> None:
    if expected is None:
        with pytest.raises(UsageError, match="listen"):
            address(listen, has_token=has_token)
    else:
        assert address(listen, has_token=has_token) == expected


@pytest.mark.parametrize(
    ("text", "is_same"),
    [
        ("https://github.com/Acme/App.git/dev/a/b", True),
        ("https://user@github.com/acme/app/dev/./a//b/", True),
        ("https://github.com/acme/app/dev/a", False),
        ("https://github.com/acme/app/dev/a/b/c", False),
        ("https://github.com/acme/app/development/a/b", False),
        ("https://github.com/acme/application/dev/a/b", False),
        ("", False),
    ],
)
def test_an_endpoint_is_known_however_it_is_spelled(text: str, is_same: bool) -> None:
    assert is_endpoint(text, "github.com/acme/app", "dev", "a/b") is is_same
