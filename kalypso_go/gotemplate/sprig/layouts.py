"""Go's date layouts, which follow the example `Mon Jan 2 15:04:05 MST 2006`: format and parse."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from kalypso_go.gotemplate.sprig.instants import (
    LOCAL,
    UTC_LOCATION,
    Instant,
    Location,
    days_in_month,
    fixed_zone,
    from_date,
    is_leap,
)
from kalypso_go.gotemplate.text import bytes_as_runes

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


_OFFSETS = {
    3: re.compile("([+-])([0-9]{2})"),
    5: re.compile("([+-])([0-9]{2})([0-9]{2})"),
    6: re.compile("([+-])([0-9]{2}):([0-9]{2})"),
    7: re.compile("([+-])([0-9]{2})([0-9]{2})([0-9]{2})"),
    9: re.compile("([+-])([0-9]{2}):([0-9]{2}):([0-9]{2})"),
}
_ABBREVIATION = re.compile(
    r"""
      ChST | MeST
    | GMT(?:[+-]0*(?:[0-9]|1[0-9]|2[0-3])(?![0-9]))?
    | [+-]0*(?:[0-9]|1[0-9]|2[0-3])(?![0-9])
    | (?: [A-Z]{4}T | [A-Z]{3}T | WITA | [A-Z]{3} )(?![A-Z])
    """,
    re.VERBOSE,
)
_FRACTION = re.compile("[.,][0-9]+")


def parse_instant(layout: str, text: str) -> Instant:
    """Parse a date; a text without a zone is in the operator's zone.

    Raises ValueError if the text does not match the layout or is not a date.
    """
    parser = _Parser(bytes_as_runes(text))
    pairs = elements(bytes_as_runes(layout))
    for index, (literal, element) in enumerate(pairs):
        parser.skip(literal)
        if element:
            parser.read(element, following=pairs[index + 1][1])
    if parser.rest:
        raise ValueError("extra text")
    return parser.instant()


class _Parser:
    """The parts of a date parsed so far, and the `rest` of the text."""

    def __init__(self, text: str) -> None:
        self.rest = text
        self.year = 0
        self.month: int | None = None
        self.day: int | None = None
        self.year_day: int | None = None
        self.hour = self.minute = self.second = self.nanosecond = 0
        self.half = ""
        self.location: Location | None = None
        self.offset: int | None = None
        self.abbreviation = ""

    def skip(self, literal: str) -> None:
        """Skip literal text of the layout; a run of spaces matches any number of spaces."""
        for part in re.findall(" +|[^ ]", literal):
            if part[0] == " ":
                if self.rest and self.rest[0] != " ":
                    raise ValueError("no space")
                self.rest = self.rest.lstrip(" ")
            elif self.rest[:1] != part:
                raise ValueError("other text")
            else:
                self.rest = self.rest[1:]

    def read(self, element: str, following: str) -> None:
        """Read one element of the layout."""
        if is_offset(element):
            self.read_offset(element)
        elif is_fraction(element):
            self.read_fraction(element)
        else:
            _READERS[element](self)
        if element in ("5", "05") and not is_fraction(following):
            # A fraction may follow the seconds even if the layout has none.
            self.read_fraction(".9")

    def take(self, pattern: str) -> str:
        match = re.match(pattern, self.rest)
        if match is None:
            raise ValueError("bad value")
        self.rest = self.rest[match.end() :]
        return match[0]

    def take_number(self, pattern: str, least: int, most: int) -> int:
        number = int(self.take(pattern))
        if not least <= number <= most:
            raise ValueError("out of range")
        return number

    def take_name(self, names: list[str]) -> int:
        for index, name in enumerate(names):
            if _equal_letters(self.rest[: len(name)], name):
                self.rest = self.rest[len(name) :]
                return index
        raise ValueError("unknown name")

    def read_year(self) -> None:
        self.year = int(self.take("[0-9]{4}"))

    def read_short_year(self) -> None:
        year = int(self.take("[0-9]{2}|[+-][0-9]"))
        self.year = year + (1900 if year >= 69 else 2000)

    def read_month_name(self, length: int | None = None) -> None:
        self.month = self.take_name([month[:length] for month in MONTHS]) + 1

    def read_weekday(self, length: int | None = None) -> None:
        self.take_name([day[:length] for day in WEEKDAYS])

    def read_month(self, digits: str) -> None:
        self.month = self.take_number(digits, 1, 12)

    def read_day(self, digits: str) -> None:
        self.day = int(self.take(digits))

    def read_year_day(self, digits: str) -> None:
        self.year_day = int(self.take(digits))

    def read_hour(self, digits: str, most: int) -> None:
        self.hour = self.take_number(digits, 0, most)

    def read_minute(self, digits: str) -> None:
        self.minute = self.take_number(digits, 0, 59)

    def read_second(self, digits: str) -> None:
        self.second = self.take_number(digits, 0, 59)

    def read_half(self, halves: str) -> None:
        self.half = self.take(halves).upper()

    def read_zone(self) -> None:
        if self.rest.startswith("UTC"):
            self.rest = self.rest[3:]
            self.location = UTC_LOCATION
            return
        match = _ABBREVIATION.match(self.rest)
        if match is None or len(self.rest) < 3:
            raise ValueError("no time zone")
        self.abbreviation = match[0]
        self.rest = self.rest[match.end() :]

    def read_offset(self, element: str) -> None:
        if element[0] == "Z" and self.rest[:1] == "Z":
            self.rest = self.rest[1:]
            self.location = UTC_LOCATION
            return
        match = _OFFSETS[len(element)].match(self.rest)
        if match is None:
            raise ValueError("no offset")
        self.rest = self.rest[match.end() :]
        sign, hours, minutes, seconds = [*match.groups(), "0", "0"][:4]
        if int(hours) > 24 or int(minutes) > 60 or int(seconds) > 60:
            raise ValueError("offset out of range")
        offset = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
        self.offset = -offset if sign == "-" else offset

    def read_fraction(self, element: str) -> None:
        if element[1] == "0":
            digits = self.take(f"[.,][0-9]{{{len(element) - 1}}}")
        else:
            match = _FRACTION.match(self.rest)
            if match is None:
                return
            digits = match[0]
            self.rest = self.rest[match.end() :]
        self.nanosecond = int(digits[1:10].ljust(9, "0"))

    def instant(self) -> Instant:
        """Return the parsed date; raise ValueError if there is no such day."""
        if self.half == "PM" and self.hour < 12:
            self.hour += 12
        elif self.half == "AM" and self.hour == 12:
            self.hour = 0
        month, day = self.month_and_day()
        if not 1 <= day <= days_in_month(self.year, month):
            raise ValueError("day out of range")
        second = (self.hour * 60 + self.minute) * 60 + self.second
        location, offset = self.zone()
        instant = from_date(self.year, month, day, second - offset, self.nanosecond, UTC_LOCATION)
        return instant.at(location)

    def month_and_day(self) -> tuple[int, int]:
        if self.year_day is None:
            return (1 if self.month is None else self.month, 1 if self.day is None else self.day)
        if not 1 <= self.year_day <= 365 + is_leap(self.year):
            raise ValueError("day of the year out of range")
        month, day = 1, self.year_day
        while day > days_in_month(self.year, month):
            day -= days_in_month(self.year, month)
            month += 1
        if self.month not in (None, month) or self.day not in (None, day):
            raise ValueError("day of the year is another day")
        return month, day

    def zone(self) -> tuple[Location, int]:
        """Return the date's location, and the seconds east of UTC of the parsed time."""
        if self.location is not None:
            return self.location, 0
        if self.offset is not None:
            if self.offset == 0 and not self.abbreviation:
                return LOCAL, 0
            return fixed_zone(self.abbreviation, self.offset), self.offset
        if self.abbreviation:
            # GMT+3 sets the offset of the location, but the time counts as UTC.
            hours = self.abbreviation[3:] if self.abbreviation.startswith("GMT") else ""
            return fixed_zone(self.abbreviation, int(hours or "0") * 3600), 0
        return LOCAL, 0


def _equal_letters(text: str, name: str) -> bool:
    """Return whether the texts are equal, ignoring the case of ASCII letters."""
    return text.isascii() and text.lower() == name.lower()


_Reader = Callable[[_Parser], None]

_READERS: dict[str, _Reader] = {
    "2006": _Parser.read_year,
    "06": _Parser.read_short_year,
    "January": _Parser.read_month_name,
    "Jan": lambda parser: parser.read_month_name(3),
    "1": lambda parser: parser.read_month("[0-9]{1,2}"),
    "01": lambda parser: parser.read_month("[0-9]{2}"),
    "Monday": _Parser.read_weekday,
    "Mon": lambda parser: parser.read_weekday(3),
    "2": lambda parser: parser.read_day("[0-9]{1,2}"),
    "_2": lambda parser: parser.read_day(" ?[0-9]{1,2}"),
    "02": lambda parser: parser.read_day("[0-9]{2}"),
    "__2": lambda parser: parser.read_year_day(" {0,2}[0-9]{1,3}"),
    "002": lambda parser: parser.read_year_day("[0-9]{3}"),
    "15": lambda parser: parser.read_hour("[0-9]{1,2}", 23),
    "3": lambda parser: parser.read_hour("[0-9]{1,2}", 12),
    "03": lambda parser: parser.read_hour("[0-9]{2}", 12),
    "4": lambda parser: parser.read_minute("[0-9]{1,2}"),
    "04": lambda parser: parser.read_minute("[0-9]{2}"),
    "5": lambda parser: parser.read_second("[0-9]{1,2}"),
    "05": lambda parser: parser.read_second("[0-9]{2}"),
    "PM": lambda parser: parser.read_half("PM|AM"),
    "pm": lambda parser: parser.read_half("pm|am"),
    "MST": _Parser.read_zone,
}
