"""Constants of random templates, one per line, as written in a template."""

from __future__ import annotations


def _lines(text: str) -> tuple[str, ...]:
    return tuple(text.strip("\n").split("\n"))


LITERALS: dict[str, tuple[str, ...]] = {
    "str": _lines(
        r"""
""
"a"
"foo bar"
"Hello, World"
`raw \n`
"é😀"
"a,b,c"
"1.2.3"
"12"
"-3.5"
"x: y"
"<a href='q'>&"
"line\nbreak\n"
"  pad "
"true"
"fooBar_baz-Qux"
"%d"
"\t\x00\u00e9"
"null"
"0x1F"
"- item"
"007"
"{{ .Workload }}"
"'quoted'"
"a\\b\"c"
"the quick brown fox jumps"
"aGk="
"""
    ),
    "int": _lines(
        r"""
0
1
2
3
7
-1
10
42
'a'
0x1F
1_000
0b101
0o17
1e3
"""
    ),
    "float": ("1.5", "0.0", "-2.25", "1e10", "1e-7", "3.14159", "1e21", "0x1p4", ".5", "100.0"),
    "bool": ("true", "false"),
    "count": ("0", "1", "2", "3", "5", "8"),
    "index": ("0", "1", "2", "4", "-1", "9"),
    "separator": _lines(
        r"""
","
" "
"a"
""
"o"
"\n"
"-"
".é"
"""
    ),
    "key": _lines(
        r"""
"a"
"b"
"name"
"k1"
"x y"
""
"""
    ),
    "typename": _lines(
        r"""
"string"
"int"
"map"
"slice"
"float64"
"bool"
"[]interface {}"
"""
    ),
    "path": _lines(
        r"""
"/a/b.txt"
"a/../b/./c"
""
"/"
"a//b/"
".hidden"
"x.tar.gz"
"""
    ),
    "url": _lines(
        r"""
"http://user:p%40w@host:8080/p/a?q=1&r=2#frag"
"https://h"
"mailto:a@b"
"/rel?x"
"http://[::1]:80/"
"""
    ),
    "regex": _lines(
        r"""
"[a-z]+"
"o"
"^.(.)"
"(?i)HELLO"
"(\\w+)\\s(\\w+)"
"a*"
"\\d{1,2}"
"(?P<n>[aeiou])"
""
"[^,]+$"
"\\bfox\\b"
"x|y|"
"""
    ),
    "replacement": _lines(
        r"""
"<$1>"
"${1}x"
"-"
"$0$0"
"$n"
"$"
"$1x"
"\\1"
""
"""
    ),
    "version": _lines(
        r"""
"1.2.3"
"v1.2"
"1"
"1.2.3-beta.1+build"
"01.2.3"
"2.0.0-rc1"
"""
    ),
    "constraint": _lines(
        r"""
"^1.2"
"~1.2.0"
">=1.0, <2"
"1.x"
"!=1.2.3"
"1 - 2"
"*"
"=v1.2.3"
"a"
"""
    ),
    "layout": _lines(
        r"""
"2006-01-02"
"Jan _2 2006 15:04:05.000 MST"
"Monday, 02-Jan-06 -07:00"
"3PM"
"""
    ),
    "day": _lines(
        r"""
"2020-02-29"
"1999-12-31"
"x"
"2020-02-30"
"""
    ),
    "duration": _lines(
        r"""
"1h"
"-36h30m"
"1.5s"
"x"
"24h"
"""
    ),
}
"""Common constants by type."""

EXTREMES: dict[str, tuple[str, ...]] = {
    "url": ('"://bad"', '"%zz"'),
    "version": ('"x"', '""'),
    "int": _lines(
        r"""
9223372036854775807
-9223372036854775808
99999999999999999999
0x
1i
"""
    ),
    "float": ("1e308", "1e400", "-0.0", "1e-320"),
    "str": _lines(
        r"""
"\xff\xfe"
"\u2028"
"\ufeff"
"\u0085"
"a\u0000b"
"""
    ),
    "regex": _lines(
        r"""
"("
"a**"
"\\p{Greek}"
"(?=a)"
"[z-a]"
"a{1001}"
"""
    ),
    "format": _lines(
        r"""
"%"
"%!"
"%z"
"%[5]d"
"%*d"
"%.*f"
"%-+# 010.3v"
"é%"
"""
    ),
}
"""Extreme constants by type."""
