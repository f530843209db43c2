"""The record: what is written is read back, whatever the names are."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.errors import KalypsoError
from kalypso_actions.observations.record import (
    LONGEST,
    BranchHead,
    DesiredLine,
    Observation,
    ObservationRecord,
    PromotionLine,
    RealLine,
    RecordedEnvironment,
    line_of,
    parse_line,
    place_of,
)

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOSTILE = [
    "a\tb",
    "a\nb",
    "a\\nb",
    "\\",
    "\r",
    "<script>alert(1)</script>",
    "\u2028",
    "\x00\x1b[31m",
    "\udc80",
    "…",
    "x" * 10_000,
]

times = st.datetimes(
    datetime(1970, 1, 1),
    datetime(9999, 12, 31),
    timezones=st.just(UTC),
).map(lambda time: time.replace(microsecond=0))
texts = st.text(max_size=40) | st.sampled_from(HOSTILE[:-1])
names = texts.filter(bool)


def desired(**fields: object) -> DesiredLine:
    """Return a line with these fields."""
    line = DesiredLine("", "", "", "", "", "", "", "", "", "", "", "", "", AT, 1)
    return line._replace(**fields)  # type: ignore[arg-type]


def real(**fields: object) -> RealLine:
    """Return a line with these fields."""
    line = RealLine("c", "k", "", "", "", "success", "current", AT, None, "")
    return line._replace(**fields)  # type: ignore[arg-type]


@given(st.data())
def test_a_record_is_read_back(data: st.DataObject) -> None:
    environment = data.draw(names)
    record = ObservationRecord(
        environments=(RecordedEnvironment(environment, 0, data.draw(texts), data.draw(texts)),),
        desired={environment: (desired(name=data.draw(texts), since=data.draw(times)),)},
        desired_before={environment: (desired(path=data.draw(texts)),)},
        real={
            (environment, data.draw(texts.filter(lambda x: x != "_"))): (
                real(cluster=data.draw(texts), reported=data.draw(st.none() | times)),
            )
        },
        promotions={
            environment: (
                PromotionLine("c", "s", None, data.draw(texts), "", "", "", AT, None, "ada"),
            )
        },
        branches=(BranchHead(data.draw(texts), "main", "c"),),
        observed=(Observation(environment, AT, data.draw(st.booleans())),),
    )
    files = record.files()
    assert ObservationRecord.parse(files) == record
    assert all(".." not in path.split("/") for path in files)
    assert all(
        text.decode().isprintable()
        for text in b"".join(files.values()).split(b"\n")
        if b"\t" not in text
    )


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_stay_in_their_field(text: str) -> None:
    line = line_of(desired(name=text, branch=text))
    assert line.count("\t") == len(DesiredLine._fields) - 1
    assert line.endswith("\n")
    assert len(line.splitlines()) == 1
    read = parse_line(DesiredLine, line[:-1])
    assert read.name == read.branch
    assert read.name == text or (len(text) > LONGEST == len(read.name))


def test_two_long_names_stay_apart() -> None:
    names = {line_of(desired(name=f"{'x' * 10_000}{end}")) for end in "ab"}
    assert len(names) == 2


def test_a_reason_is_cut() -> None:
    assert len(parse_line(RealLine, line_of(real(reason="x" * 10_000))[:-1]).reason) == 200


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({"environments.tsv": b""}, "no record of the format"),
        ({"kalypso.record": b"kalypso.record/v2\n"}, "but 'kalypso.record/v2'"),
        (
            {"kalypso.record": b"kalypso.record/v1\n", "observed.tsv": b"dev\t2026\ttrue\n"},
            "2026",
        ),
        (
            {"kalypso.record": b"kalypso.record/v1\n", "observed.tsv": b"\ndev\n"},
            "1 fields instead of 3",
        ),
    ],
)
def test_a_damaged_record_is_refused(files: dict[str, bytes], fault: str) -> None:
    with pytest.raises(KalypsoError, match=fault) as refused:
        ObservationRecord.parse(files, "record")
    where = refused.value.problems[0].where
    assert where is not None
    assert where.repository == "record"


@pytest.mark.parametrize(
    "path", ["README.md", "real/dev.tsv", "desired/a/b.tsv", "other.tsv", "real/a/b/c.tsv"]
)
def test_foreign_files_are_left_alone(path: str) -> None:
    assert place_of(path) is None
