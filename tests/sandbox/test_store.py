"""The saved data, and the state after a restart."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from kalypso_actions.errors import KalypsoError
from kalypso_sandbox import Sandbox, store
from kalypso_sandbox.store import Event, Store
from tests.git_repositories import programs
from tests.sandbox.served_sandbox import NOON

EVENTS = "events.jsonl"


def opened(folder: Path) -> Store:
    return Store.open(folder, lambda: NOON, programs())


@pytest.fixture
def saved(tmp_path: Path) -> Store:
    return opened(tmp_path)


def add_event(saved: Store, payload: object = 1) -> int:
    event = Event(
        id=saved.new_id(),
        name="push",
        repository="acme/fleet",
        ref="refs/heads/main",
        commit="c",
        actor="somebody",
        payload={"p": payload},
        created_at=NOON,
    )
    saved.events.append(event)
    return event.id


def payloads(saved: Store) -> list[object]:
    return [event.payload.get("p") for event in saved.events]


def test_an_event_is_written_once(saved: Store, tmp_path: Path) -> None:
    add_event(saved, "first")
    saved.save()
    first = (tmp_path / EVENTS).read_bytes()
    size = (tmp_path / "world.json").stat().st_size
    saved.events[0].payload = {"p": "what is written stays"}
    add_event(saved, "second")
    saved.save()
    saved.save()
    written = (tmp_path / EVENTS).read_bytes()
    assert written.startswith(first)
    kept = [json.loads(line)["payload"]["p"] for line in written.splitlines()]
    assert kept == ["first", "second"]
    assert (tmp_path / "world.json").stat().st_size == size, "events are not in it"


def test_events_survive_a_restart(saved: Store, tmp_path: Path) -> None:
    last = [add_event(saved, number) for number in range(3)][-1]
    saved.save()
    again = opened(tmp_path)
    assert again.events == saved.events
    assert add_event(again, 3) > last
    again.save()
    assert payloads(opened(tmp_path)) == [0, 1, 2, 3]


def test_events_that_were_cleared_do_not_hinder(saved: Store, tmp_path: Path) -> None:
    add_event(saved, "a")
    saved.save()
    saved.events.clear()
    add_event(saved, "b")
    saved.save()
    assert payloads(opened(tmp_path)) == ["a", "b"]


def test_payloads_of_old_events_are_dropped(
    saved: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "PAYLOADS", 2)
    monkeypatch.setattr(store, "PAYLOADS_IN_MEMORY", 1)
    ids = []
    for number in range(5):
        ids.append(add_event(saved, number))
        saved.save()
    assert payloads(saved) == [None, None, None, None, 4]
    again = opened(tmp_path)
    assert payloads(again) == [None, None, None, None, 4]
    read = [again.event(each) for each in (*ids, 99)]
    assert [event and event.payload for event in read] == [{}, {}, {}, {"p": 3}, {"p": 4}, None]
    assert [event.id for event in again.events] == ids
    assert b'"p":2' not in (tmp_path / EVENTS).read_bytes(), "nor is it on the disk"


def test_writing_that_was_interrupted(saved: Store, tmp_path: Path) -> None:
    add_event(saved, "a")
    add_event(saved, "b")
    saved.save()
    file = tmp_path / EVENTS
    file.write_bytes(file.read_bytes()[:-5])
    (tmp_path / "world.json.new").write_text('{"half')
    again = opened(tmp_path)
    assert payloads(again) == ["a"]
    add_event(again, "c")
    again.save()
    assert payloads(opened(tmp_path)) == ["a", "c"]


def test_an_event_that_was_saved_without_its_state(saved: Store, tmp_path: Path) -> None:
    """The events are written first: a crash between the writes must not repeat an id."""
    saved.save()
    last = add_event(saved)
    saved._log.append(saved.events)
    assert opened(tmp_path).new_id() > last


@pytest.mark.parametrize(("file", "content"), [("world.json", '{"odd": 1}'), (EVENTS, "{}\n")])
def test_the_state_of_another_version_is_refused(tmp_path: Path, file: str, content: str) -> None:
    (tmp_path / file).write_text(content)
    with pytest.raises(KalypsoError, match=r"was not written by this version's") as caught:
        Sandbox(tmp_path, programs())
    assert caught.value.problem.advice == "start with a new folder"
    (tmp_path / file).unlink()
    with Sandbox(tmp_path, programs()):
        """The failed start has released the folder."""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_tokens_are_for_their_owner_alone(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.commit("acme/fleet", {"a": "1"})
    for name in ("world.json", EVENTS, "in-use"):
        file = tmp_path / "sandbox" / name
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_one_sandbox_at_a_time(tmp_path: Path) -> None:
    with Sandbox(tmp_path, programs()) as sandbox:
        with pytest.raises(KalypsoError, match="another sandbox is running in") as caught:
            Sandbox(tmp_path, programs())
        assert caught.value.problem.advice == "stop it, or use another folder"
        port = int(sandbox.url.rpartition(":")[2])
        with pytest.raises(KalypsoError, match="cannot be used"):
            Sandbox(tmp_path / "other", programs(), port=port).__enter__()
        with Sandbox(tmp_path / "other", programs()):
            """A sandbox that could not start has released its folder."""
    with Sandbox(tmp_path, programs()):
        """A sandbox that has ended has also released its folder."""


def test_a_program_that_has_crashed_holds_nothing(tmp_path: Path) -> None:
    program = (
        "import os, pathlib, sys\n"
        "from kalypso_sandbox.store import FolderLock\n"
        "lock = FolderLock(pathlib.Path(sys.argv[1]))\n"
        "os._exit(3)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path], check=False)
    assert done.returncode == 3
    with Sandbox(tmp_path, programs()):
        """The lock file exists, but no process holds it."""


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(KalypsoError, match="cannot be used: "):
        Sandbox(tmp_path / "file", programs())
