"""Data and functions for templates under test."""

from __future__ import annotations

from kalypso_go import gotemplate
from kalypso_go.gotemplate import DEFAULT_LIMITS, Function, FunctionError, Limits
from kalypso_go.gotemplate.values import (
    ANY,
    ANY_MAP,
    BOOL,
    FLOAT64,
    INT,
    INT64,
    INT_SLICE,
    STRING,
    STRING_MAP,
    STRING_SLICE,
    UINT8,
    YAML_MAP,
    GoInt,
    GoMap,
    GoSlice,
    GoStruct,
    Type,
)

POINT = Type("struct", "shapes.Point")


def point(x: int, y: int, *, pointer: bool = False) -> GoStruct:
    """Return a struct with the methods `Sum`, `Plus`, `Fail`; a pointer also has `String`."""

    def plus(number: int, *more: int) -> int:
        return x + y + number + sum(more)

    def fail() -> object:
        raise FunctionError("no such point")

    methods = {
        "Sum": Function("Sum", lambda: x + y, result=INT),
        "Plus": Function("Plus", plus, (INT, INT), variadic=True, result=INT),
        "Fail": Function("Fail", fail),
        "Twice": Function("Twice", fail, unusable="function Twice has 3 return values; should be 1 or 2"),
    }  # fmt: skip
    if pointer:
        methods["String"] = Function("String", lambda: f"<{x},{y}>", result=STRING)
    return GoStruct(POINT, {"X": x, "Y": y}, methods, pointer=pointer, hidden={"secret": 1})


def data() -> GoStruct:
    """Return a struct with a field of each kind."""
    return GoStruct(
        Type("struct", "scheduler.dataType"),
        {
            "Name": "web",
            "Labels": GoMap(STRING_MAP, {"app": "shop", "tier": "front"}),
            "Config": {"n": 5, "s": "text", "null": None, "list": [1, "two", None]},
            "Parsed": GoMap(YAML_MAP, {"k": "v", "null": None}),
            "Words": GoSlice(STRING_SLICE, ["a", "b"]),
            "Numbers": GoSlice(INT_SLICE, [3, 1, 2]),
            "Long": GoInt(INT64, -7),
            "Byte": GoInt(UINT8, 200),
            "Half": 0.5,
            "Yes": True,
            "Point": point(1, 2),
            "Pointer": point(3, 4, pointer=True),
            "Call": Function("Call", lambda number: number + 1, (INT,), result=INT),
        },
    )


def _fail(text: str) -> object:
    raise FunctionError(text)


def _grow(budget: gotemplate.Budget, size: int) -> str:
    budget.reserve(size, "grow")
    return "x" * size


FUNCTIONS = {
    function.name: function
    for function in (
        Function("text", lambda text: f"<{text}>", (STRING,), result=STRING),
        Function("number", lambda number: number + 1, (INT,), result=INT),
        Function("byte", lambda byte: byte, (UINT8,), result=UINT8),
        Function("half", lambda number: number / 2, (FLOAT64,), result=FLOAT64),
        Function("negate", lambda truth: not truth, (BOOL,), result=BOOL),
        Function("any", lambda value: value, (ANY,)),
        Function("words", len, (STRING_SLICE,), result=INT),
        Function("keys", lambda mapping: f"{len(mapping)} keys", (ANY_MAP,), result=STRING),
        Function("joined", lambda by, *texts: by.join(texts), (STRING, STRING), variadic=True),
        Function("nothing", lambda: None),
        Function("fail", _fail, (STRING,)),
        Function("grow", _grow, (INT,), takes_budget=True),
    )
}


def render(text: str, dot: object = None, limits: Limits = DEFAULT_LIMITS) -> str:
    """Parse and execute with `FUNCTIONS` and `data`, or another dot."""
    template = gotemplate.parse(text, name="t", functions=FUNCTIONS, limits=limits)
    return template.execute(data() if dot is None else dot, limits)


def failure(text: str, dot: object = None, limits: Limits = DEFAULT_LIMITS) -> str:
    """Return the error's text after `template: t:`; raise AssertionError if there is none."""
    try:
        output = render(text, dot, limits)
    except gotemplate.TemplateError as error:
        return error.message.removeprefix("template: t:").lstrip()
    raise AssertionError(f"no error, but {output!r}")
