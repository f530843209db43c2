"""Arithmetic on 64-bit integers that wrap around, and rounding of floats."""

from __future__ import annotations

import math

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.numerals import MAX_INT64, MIN_INT64
from kalypso_go.gotemplate.sprig.coercion import (
    parse_integer,
    sprint,
    to_float64,
    to_int64,
    wrap_int64,
)
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.values import (
    ANY,
    FLOAT64,
    INT,
    INT64,
    INT_SLICE,
    STRING,
    FunctionError,
    GoInt,
    GoSlice,
)


def _int64(value: int) -> GoInt:
    return GoInt(INT64, wrap_int64(value))


@function("int64", ANY, returns=INT64)
def int64(value: object) -> GoInt:
    """Return the value as an int64, 0 if it is not a number."""
    return GoInt(INT64, to_int64(value))


function("int", ANY, returns=INT)(to_int64)
function("float64", ANY, returns=FLOAT64)(to_float64)


@function("atoi", STRING, returns=INT)
def atoi(text: str) -> int:
    """Parse a number: 0 for other texts, the nearest int if it is out of range."""
    number = parse_integer(text)
    return 0 if number is None else max(MIN_INT64, min(number, MAX_INT64))


@function("toDecimal", ANY, returns=INT64, takes_budget=True)
def to_decimal(budget: Budget, value: object) -> GoInt:
    """Parse the printed value as an octal number; return 0 if it is not one."""
    number = parse_integer(sprint(budget, value), base=8)
    if number is None or not MIN_INT64 <= number <= MAX_INT64:
        return GoInt(INT64, 0)
    return GoInt(INT64, number)


@function("add1", ANY, returns=INT64)
def add1(value: object) -> GoInt:
    """Return the value plus one."""
    return _int64(to_int64(value) + 1)


@function("add", ANY, variadic=True, returns=INT64)
def add(*values: object) -> GoInt:
    """Return the sum."""
    return _int64(sum(map(to_int64, values)))


@function("sub", ANY, ANY, returns=INT64)
def sub(first: object, second: object) -> GoInt:
    """Return the difference."""
    return _int64(to_int64(first) - to_int64(second))


@function("mul", ANY, ANY, variadic=True, returns=INT64)
def mul(first: object, *others: object) -> GoInt:
    """Return the product."""
    product = to_int64(first)
    for other in others:
        product = wrap_int64(product * to_int64(other))
    return GoInt(INT64, product)


def _divided(dividend: int, divisor: int) -> tuple[int, int]:
    """Return quotient and remainder; the quotient is truncated towards zero."""
    if divisor == 0:
        raise FunctionError("runtime error: integer divide by zero")
    quotient, rest = divmod(abs(dividend), abs(divisor))
    return (
        quotient if (dividend < 0) == (divisor < 0) else -quotient,
        -rest if dividend < 0 else rest,
    )


@function("div", ANY, ANY, returns=INT64)
def div(first: object, second: object) -> GoInt:
    """Return the quotient, truncated towards zero."""
    return _int64(_divided(to_int64(first), to_int64(second))[0])


@function("mod", ANY, ANY, returns=INT64)
def mod(first: object, second: object) -> GoInt:
    """Return the remainder, with the sign of the first number."""
    return _int64(_divided(to_int64(first), to_int64(second))[1])


@function("max", "biggest", ANY, ANY, variadic=True, returns=INT64)
def max_(*values: object) -> GoInt:
    """Return the greatest value as an int64."""
    return GoInt(INT64, max(map(to_int64, values)))


@function("min", ANY, ANY, variadic=True, returns=INT64)
def min_(*values: object) -> GoInt:
    """Return the least value as an int64."""
    return GoInt(INT64, min(map(to_int64, values)))


@function("until", INT, returns=INT_SLICE, takes_budget=True)
def until(budget: Budget, count: int) -> GoSlice:
    """Return the integers from 0 up (or down) to `count`, exclusive."""
    return until_step(budget, 0, count, 1 if count >= 0 else -1)


@function("untilStep", INT, INT, INT, returns=INT_SLICE, takes_budget=True)
def until_step(budget: Budget, start: int, stop: int, step: int) -> GoSlice:
    """Return the integers from `start` to `stop`, exclusive; none if `step` leads away."""
    if step == 0 or (stop < start) != (step < 0):
        return GoSlice(INT_SLICE)
    numbers = range(start, stop, step)
    budget.reserve_elements(_length(numbers), "untilStep")
    return GoSlice(INT_SLICE, numbers)


def _length(numbers: range) -> int:
    """Return `len(numbers)`, which Python limits to 63 bits."""
    if not numbers:
        return 0
    return (numbers[-1] - numbers[0]) // numbers.step + 1


@function("floor", ANY, returns=FLOAT64)
def floor(value: object) -> float:
    """Go's `math.Floor`."""
    return _floor(to_float64(value))


@function("ceil", ANY, returns=FLOAT64)
def ceil(value: object) -> float:
    """Go's `math.Ceil`."""
    return -_floor(-to_float64(value))


def _floor(number: float) -> float:
    if not math.isfinite(number):
        return number
    # Keep the sign of -0.0, which an int loses.
    return math.copysign(float(math.floor(number)), number)


@function("round", ANY, INT, FLOAT64, variadic=True, returns=FLOAT64)
def round_(value: object, places: int, *options: float) -> float:
    """Round to `places`, up if the fraction is at least the third argument (default 0.5).

    Negative numbers always round down, because their fraction is negative.
    """
    round_on = options[0] if options else 0.5
    power = _power_of_ten(places)
    shifted = power * to_float64(value)
    fraction = math.modf(shifted)[0] if math.isfinite(shifted) else math.nan
    rounded = -_floor(-shifted) if fraction >= round_on else _floor(shifted)
    return _quotient(rounded, power)


def _quotient(dividend: float, divisor: float) -> float:
    """Divide floats like IEEE 754: by zero the result is infinite or NaN."""
    if divisor:
        return dividend / divisor
    if dividend == 0 or math.isnan(dividend):
        return math.nan
    return math.copysign(math.inf, dividend)


def _power_of_ten(exponent: int) -> float:
    """Go's `math.Pow(10, exponent)`, whose successive squarings determine the last bits."""
    if exponent in (0, 1):
        return float(10**exponent)
    mantissa, power = 1.0, 0
    square, square_power = math.frexp(10.0)
    bits = abs(exponent)
    while bits:
        if abs(square_power) > 1 << 12:
            power += square_power
            break
        if bits & 1:
            mantissa *= square
            power += square_power
        square *= square
        square_power <<= 1
        if square < 0.5:
            square += square
            square_power -= 1
        bits >>= 1
    if exponent < 0:
        mantissa, power = 1 / mantissa, -power
    try:
        return math.ldexp(mantissa, power)
    except OverflowError:
        return math.inf
