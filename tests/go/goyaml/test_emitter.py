"""Writing YAML beyond the recorded cases, which compare the bytes with Go's."""

from __future__ import annotations

import pytest

from kalypso_go.gotemplate.values import INT64, UINT8, YAML_MAP, GoInt, GoMap, GoSlice, slice_of
from kalypso_go.goyaml import (
    MAX_DEPTH,
    InOrder,
    Verbatim,
    YAMLBoundError,
    YAMLError,
    dump_v2,
    dump_v3,
    parse,
)

DUMPS = [dump_v2, dump_v3]


def test_subclasses_are_written_as_their_base() -> None:
    class Text(str):
        __slots__ = ()

    value = GoMap(YAML_MAP, [(Text("k"), GoSlice(slice_of(UINT8), [GoInt(INT64, 5), Text("yes")]))])
    assert dump_v3(value) == 'k:\n    - 5\n    - "yes"\n'


def test_keys_that_python_holds_equal() -> None:
    value = parse("2.0: f2\n1: i\ntrue: b\n2: i2\nno: nothing\n0: z\n1.0: f\n0.0: fz\n")
    assert dump_v3(value) == "false: nothing\n0: z\n0: fz\ntrue: b\n1: i\n1: f\n2: i2\n2: f2\n"


def test_structs_keep_their_order() -> None:
    assert dump_v3(InOrder({"b": 1, "a": {"d": 1, "c": 2}})) == "b: 1\na:\n    c: 2\n    d: 1\n"


def test_what_is_written_verbatim() -> None:
    value = {"t": Verbatim("2001-12-14T21:59:43Z"), "l": [Verbatim("2001-12-14T21:59:43Z")]}
    assert dump_v3(value) == "l:\n    - 2001-12-14T21:59:43Z\nt: 2001-12-14T21:59:43Z\n"
    assert dump_v3(Verbatim("5")) == "5\n"


def test_values_of_other_types_are_represented() -> None:
    class Struct:
        pass

    def represent(value: object) -> object:
        return {"made": ["of it"]} if isinstance(value, Struct) else value

    written = "made:\n    - of it\n"
    assert dump_v3(Struct(), represent=represent) == written
    assert dump_v3([Struct()], represent=represent) == "- " + written
    assert dump_v2({"k": Struct()}, represent=represent) == "k:\n  made:\n  - of it\n"


@pytest.mark.parametrize("dump", DUMPS)
@pytest.mark.parametrize(
    "value",
    [
        *(object(), 1j, b"x", {1, 2}, (1, 2), [object()], {"k": object()}, {(1, 2): "x"}),
        *({object(): 1, "k": 2}, {"a": {object(): 1}}, 2**64, -(2**63) - 1, {10**400: 1, "a": 2}),
        *("\ud800", {"\ud800": "x"}, {"\ud800": "x", "a": "y"}, ["a\udbffb"]),
    ],
)
def test_values_without_yaml_are_errors(dump: type[object], value: object) -> None:
    with pytest.raises(YAMLError):
        dump(value)  # type: ignore[call-arg] # a function; pytest has no better type


@pytest.mark.parametrize("dump", DUMPS)
def test_cycles_are_errors(dump: type[object]) -> None:
    cycle: dict[str, object] = {}
    cycle["k"] = [cycle]
    with pytest.raises(YAMLBoundError, match=f"more than {MAX_DEPTH} levels"):
        dump(cycle)  # type: ignore[call-arg] # a function; pytest has no better type


def test_nesting_up_to_the_bound() -> None:
    value: object = "x"
    for _ in range(MAX_DEPTH):
        value = [value]
    assert dump_v3(value) == "- " * MAX_DEPTH + "x\n"
    with pytest.raises(YAMLBoundError):
        dump_v3([value])


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("x" * 99, 100),
        ({"k": "x" * 96}, 100),
        ({"k": "é" * 48}, 100),
        (["x"] * 25, 100),
        (["ü"] * 20, 100),
    ],
    ids=["text", "mapping", "bytes in a mapping", "list", "bytes in a list"],
)
def test_the_size_is_bounded_in_bytes(value: object, size: int) -> None:
    assert len(dump_v3(value, size).encode()) == size
    with pytest.raises(YAMLBoundError, match=f"more than {size - 1} bytes"):
        dump_v3(value, size - 1)


def test_a_small_value_that_is_large_when_written_ends_early() -> None:
    value: object = "x"
    for _ in range(60):
        value = [value, value]
    with pytest.raises(YAMLBoundError, match="more than 1000 bytes"):
        dump_v3(value, 1000)
