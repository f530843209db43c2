// Writes kalypso_go/gotemplate/characters.py: the characters that Go regards as printable, as
// letters, and as digits, so that the Unicode version of Python does not matter.
//
//	go run ./tools/characters > kalypso_go/gotemplate/characters.py
package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

const head = `"""Which characters Go prints, and which are its letters and digits.

tools/characters writes this file from Go's own tables (Unicode %s), so identifiers and escapes
do not depend on the Unicode version of Python.
"""

from __future__ import annotations

from bisect import bisect_right


def is_print(rune: str) -> bool:
    """Go's ` + "`strconv.IsPrint` and `unicode.IsPrint`" + `."""
    if rune < "\x7f":
        return rune >= " "
    return bisect_right(_PRINT, ord(rune)) %% 2 == 1


def is_letter(rune: str) -> bool:
    """Go's ` + "`unicode.IsLetter`" + `."""
    if rune < "\x80":
        return rune.isalpha()
    return bisect_right(_LETTERS, ord(rune)) %% 2 == 1


def is_digit(rune: str) -> bool:
    """Go's ` + "`unicode.IsDigit`" + `."""
    if rune < "\x80":
        return rune.isdecimal()
    return bisect_right(_DIGITS, ord(rune)) %% 2 == 1


def _bounds(text: str) -> tuple[int, ...]:
    """Return the code points where a set begins, ends, and so on."""
    bounds = []
    for span in text.split():
        first, _, last = span.partition("-")
        bounds += [int(first, 16), int(last or first, 16) + 1]
    return tuple(bounds)

`

func main() {
	fmt.Printf(head, unicode.Version)
	table("_PRINT", strconv.IsPrint)
	table("_LETTERS", unicode.IsLetter)
	table("_DIGITS", unicode.IsDigit)
}

// table writes the characters beyond ASCII that belong to a set, as spans of code points.
func table(name string, contains func(rune) bool) {
	fmt.Printf("\n%s = _bounds(\n    \"\"\"\n", name)
	line := "   "
	for _, span := range spans(contains) {
		if len(line)+1+len(span) > 99 {
			fmt.Println(line)
			line = "   "
		}
		line += " " + span
	}
	fmt.Printf("%s\n    \"\"\"\n)\n", line)
}

func spans(contains func(rune) bool) []string {
	var found []string
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if !contains(r) {
			continue
		}
		first := r
		for r < unicode.MaxRune && contains(r+1) {
			r++
		}
		found = append(found, strings.TrimSuffix(fmt.Sprintf("%x-%x", first, r), fmt.Sprintf("-%x", first)))
	}
	return found
}
