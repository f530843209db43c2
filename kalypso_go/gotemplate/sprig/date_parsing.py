"""Parse dates by a layout, like Go's `time.ParseInLocation` with the operator's time zone, UTC."""

from __future__ import annotations

import re
from collections.abc import Callable

from kalypso_go.gotemplate.sprig import runes
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
from kalypso_go.gotemplate.sprig.layouts import (
    MONTHS,
    WEEKDAYS,
    elements,
    is_fraction,
    is_offset,
)

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
    parser = _Parser(runes.bytes_as_runes(text))
    pairs = elements(runes.bytes_as_runes(layout))
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
            return (
                1 if self.month is None else self.month,
                1 if self.day is None else self.day,
            )
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
