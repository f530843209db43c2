"""Go's date layouts, which follow the example `Mon Jan 2 15:04:05 MST 2006`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from kalypso_go.gotemplate.sprig.instants import Instant

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")

_ELEMENT = re.compile(
    r"""
      January | Jan(?![a-z]) | Monday | Mon(?![a-z]) | MST
    | 0[1-6] | 002 | 15? | 2006 | 2 | _2(?!006) | __2 | [345] | PM | pm
    | -070000 | -07:00:00 | -0700 | -07:00 | -07
    | Z070000 | Z07:00:00 | Z0700 | Z07:00 | Z07
    | [.,](?:0+|9+)(?![0-9])
    """,
    re.VERBOSE,
)


_CACHED = 100
"""The cache holds layouts up to this length."""


def elements(layout: str) -> Sequence[tuple[str, str]]:
    """Split a layout into pairs of literal text and element; the last has no element."""
    return _cached_elements(layout) if len(layout) <= _CACHED else tuple(_elements(layout))


@lru_cache(maxsize=256)
def _cached_elements(layout: str) -> Sequence[tuple[str, str]]:
    return tuple(_elements(layout))


def _elements(layout: str) -> Iterator[tuple[str, str]]:
    end = 0
    for match in _ELEMENT.finditer(layout):
        yield layout[end : match.start()], match[0]
        end = match.end()
    yield layout[end:], ""


def is_offset(element: str) -> bool:
    """Return whether the element is an offset such as `-07:00`, or `Z07:00` with `Z` for UTC."""
    return element[:3] in ("-07", "Z07")


def is_fraction(element: str) -> bool:
    """Return whether the element is a fraction of a second, such as `.000` or `,999`."""
    return element[:1] in (".", ",")


def format_instant(instant: Instant, layout: str) -> str:
    """Go's `Time.Format`."""
    return "".join(
        [literal + _format_element(instant, element) for literal, element in elements(layout)]
    )


def _format_element(instant: Instant, element: str) -> str:
    if is_offset(element):
        return _format_offset(instant.zone()[1], element)
    if is_fraction(element):
        return _format_fraction(instant.nanosecond, element)
    return _FORMATS[element](instant) if element else ""


def _hour(instant: Instant) -> int:
    return instant.clock()[1] // 3600


def _hour_of_12(instant: Instant) -> int:
    return _hour(instant) % 12 or 12


def _minute(instant: Instant) -> int:
    return instant.clock()[1] // 60 % 60


def _second(instant: Instant) -> int:
    return instant.clock()[1] % 60


def _padded(number: int, width: int) -> str:
    """Pad the digits with zeros to `width`, not counting the sign."""
    return f"{'-' if number < 0 else ''}{abs(number):0{width}d}"


def _zone(instant: Instant) -> str:
    name, offset, _ = instant.zone()
    return name or _format_offset(offset, "-0700")


_FORMATS: dict[str, Callable[[Instant], str]] = {
    "2006": lambda instant: _padded(instant.date()[0], 4),
    "06": lambda instant: f"{abs(instant.date()[0]) % 100:02d}",
    "January": lambda instant: MONTHS[instant.date()[1] - 1],
    "Jan": lambda instant: MONTHS[instant.date()[1] - 1][:3],
    "1": lambda instant: str(instant.date()[1]),
    "01": lambda instant: f"{instant.date()[1]:02d}",
    "Monday": lambda instant: WEEKDAYS[instant.weekday()],
    "Mon": lambda instant: WEEKDAYS[instant.weekday()][:3],
    "2": lambda instant: str(instant.date()[2]),
    "_2": lambda instant: f"{instant.date()[2]:2d}",
    "02": lambda instant: f"{instant.date()[2]:02d}",
    "__2": lambda instant: f"{instant.year_day():3d}",
    "002": lambda instant: f"{instant.year_day():03d}",
    "15": lambda instant: f"{_hour(instant):02d}",
    "3": lambda instant: str(_hour_of_12(instant)),
    "03": lambda instant: f"{_hour_of_12(instant):02d}",
    "4": lambda instant: str(_minute(instant)),
    "04": lambda instant: f"{_minute(instant):02d}",
    "5": lambda instant: str(_second(instant)),
    "05": lambda instant: f"{_second(instant):02d}",
    "PM": lambda instant: "PM" if _hour(instant) >= 12 else "AM",
    "pm": lambda instant: "pm" if _hour(instant) >= 12 else "am",
    "MST": _zone,
}


def _format_offset(offset: int, element: str) -> str:
    if offset == 0 and element[0] == "Z":
        return "Z"
    minutes = abs(offset) // 60
    # Go takes the sign from the minutes: less than a minute west, only the seconds have a minus.
    sign = "-" if offset < 0 and minutes else "+"
    text = f"{sign}{minutes // 60:02d}"
    colon = ":" if ":" in element else ""
    if len(element) > 3:
        text += f"{colon}{minutes % 60:02d}"
    if len(element) > 6:
        seconds = abs(offset) % 60
        text += colon + _padded(-seconds if offset < 0 and not minutes else seconds, 2)
    return text


def _format_fraction(nanosecond: int, element: str) -> str:
    digits = f"{nanosecond:09d}"[: len(element) - 1]
    if element[1] == "9":
        digits = digits.rstrip("0")
        return element[0] + digits if digits else ""
    return element[0] + digits
