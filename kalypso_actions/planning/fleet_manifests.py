"""Check the files that a fleet's Templates print, and report each cause once.

    checker = ManifestChecker(fleet.templates)
    checked = {assignment: checker.check(assignment, files) for assignment, files in rendered}
    judgement = judge_manifests(checked.items(), fleet.templates)

`check` has no memory but its caches, so processes may share the work. A text is sound if it is
sound with renamed words (`renaming`), so most assignments take no parsing. Not all files are for
Kubernetes: a Template of which no file has an object gets a note, and no other finding.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from typing import Final, Literal, NamedTuple

from kalypso_actions.errors import HERE, Finding, Location, Problem, leveled
from kalypso_actions.model.application import CORRECT_TEMPLATE
from kalypso_actions.model.caches import SizedCache
from kalypso_actions.model.config import MergedConfig
from kalypso_actions.model.counts import counted
from kalypso_actions.model.kinds import MANIFESTS_ANNOTATION, Assignment, ClusterType, Template
from kalypso_actions.model.layout import CONFIG_SCRIPT, TARGET_FILES
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.planning.manifest_references import (
    ELSEWHERE,
    NAMESPACE,
    UNMET,
    Reference,
    unmet,
)
from kalypso_actions.planning.manifest_schemas import schema_faults, schema_words
from kalypso_actions.planning.manifest_values import VALUE_INVALID
from kalypso_actions.planning.manifests import KNOWN, MOST_DATA, ManifestRules, check_manifests
from kalypso_actions.planning.renaming import (
    DIGITS,
    MARK,
    Renaming,
    Words,
    hexadecimal_digests,
    original,
    quoted_digits,
    rename,
)
from kalypso_actions.planning.template_lines import ACTION, TemplateLines
from kalypso_actions.rendering import PRINTS_NOTHING, Failure, fields_read, template_of
from kalypso_actions.sources.yaml_documents import NO_BLANK

Manifests = Literal["warn", "strict"]

ANY: Final = "any"
"""The value of the annotation for files that are not for Kubernetes."""

KEPT_BYTES: Final = 16 << 20
"""The most characters of texts whose results are kept: those of some ten thousand files."""

SEPARATOR: Final = b"\x01"
"""Between identities; the parts of one are separated by a zero byte, and escape both."""

END: Final = b"\x02"
"""Between the files of an assignment, and between the identities of their objects."""

LOOKED_UP: Final = 1000
"""The most assignments with a fault at one place of a Template whose values are looked up."""

OF_MANIFESTS: Final = "manifest-"
"""The start of the codes of faults."""

DUPLICATE: Final = "manifest-duplicate"
NOT_KUBERNETES: Final = "template-not-kubernetes"

_OBJECT: Final = re.compile(r"""^[ {-]*["']?apiVersion["']? *:""", re.MULTILINE)
_KIND: Final = re.compile(r"^kind *:", re.MULTILINE)
_METADATA: Final = re.compile(r"^metadata *:", re.MULTILINE)
_OF_TARGET: Final = re.compile(
    r"\{\{[^{}]*\b(?:Namespace|Workload|DeploymentTargetName|ClusterType)\b"
)
"""Matches an action with the names of an assignment, which no namespace of a cluster has alone."""

OF_FIELDS: Final = frozenset({"manifest-incomplete", "manifest-not-text", "manifest-schema"})
"""The codes of faults that depend on the fields and types of objects, and not on the words in them.

An unknown field or value may be a word, and near a known one in one file only.
"""

OF_TEXTS: Final = frozenset(
    {
        VALUE_INVALID,
        "manifest-field-unknown",
        "manifest-label-invalid",
        "manifest-name-invalid",
        "manifest-quantity-invalid",
        "manifest-schema",
    }
)
"""The codes of faults that may be about the text of one value."""

_OWN_RULES: Final = ManifestRules(schema_errors=schema_faults, are_of_application=False)


class ManifestFault(NamedTuple):
    """A fault of an assignment's file, at the line of the Template that prints it.

    Only `strict` rules tell of one that is not certain, as a warning. A reference is `wanted`, an
    identity without its group: another assignment may have the object, and it is never an error.
    With `elsewhere`, it counts only if another cluster type has the object.
    """

    code: str
    message: str
    advice: str
    where: Location
    is_certain: bool = True
    wanted: str = ""
    elsewhere: bool = False

    def with_words(self, words: Words) -> ManifestFault:
        """Return the fault of a renamed text with the words of the file."""
        if not words:
            return self
        message, wanted = (
            original(text.encode(), words).decode() for text in (self.message, self.wanted)
        )
        return self._replace(message=message, wanted=wanted)


class CheckedFile(NamedTuple):
    """The faults of a file. Without an object, the file may not be for Kubernetes.

    The faults that are `shown` are those of a renamed text, which many files share, if there are
    `words` to put back.
    """

    template: str
    has_objects: bool
    shown: tuple[ManifestFault, ...] = ()
    words: Words = ()

    @property
    def faults(self) -> tuple[ManifestFault, ...]:
        """The faults with the words of the file."""
        return tuple(fault.with_words(self.words) for fault in self.shown)


class Checked(NamedTuple):
    """The files of an assignment, which many assignments share, and all their objects.

    `joined` are the identities of the objects of each file: kind and group, namespace, name. They
    are one text, which processes send at little cost.
    """

    files: tuple[CheckedFile, ...] = ()
    joined: bytes = b""

    @property
    def objects(self) -> Iterator[tuple[CheckedFile, Sequence[bytes]]]:
        """The files with the identities of their objects."""
        for file, joined in zip(self.files, self.joined.split(END), strict=False):
            yield file, joined.split(SEPARATOR) if joined else ()


class ManifestChecker:
    """Checks the files of one fleet; each text that renaming does not prove is parsed once."""

    def __init__(self, templates: Iterable[Template]) -> None:
        self._templates = {template.name: template for template in templates}
        self._results: SizedCache[_Text] = SizedCache(KEPT_BYTES)
        self._sound: SizedCache[Checked] = SizedCache(KEPT_BYTES)
        """The results of renamed texts of whole assignments, empty with any fault."""
        self._shown: dict[str, SizedCache[tuple[ManifestFault, ...]]] = {}
        """The faults of renamed texts that are those of the file that was read, by Template."""
        self._renaming = Renaming((*KNOWN, *schema_words()))
        self._digests: dict[str, Words] = {}
        """The last digests in the texts of each cluster type."""
        self._names: dict[str, Mapping[str, str]] = {}
        self._places: dict[tuple[str, str, str], Location] = {}
        self._lines: dict[str, _PrintingLines] = {}
        self._last: tuple[Mapping[str, FileContent], Checked] = {}, Checked()

    def is_sound(self, assignment: Assignment, files: Mapping[str, bytes]) -> bool:
        """Return whether all files are checked and have no fault, so no mapping repeats a key.

        The next `check` of the same files takes no time.
        """
        checked = self.check(assignment, files)
        self._last = files, checked
        faults = (fault for file in checked.files for fault in file.shown)
        return len(checked.files) == len(files) and all(fault.wanted for fault in faults)

    def check(self, assignment: Assignment, files: Mapping[str, FileContent]) -> Checked:
        """Return what the check of each manifest finds; contents that are ids count as sound."""
        if files is self._last[0]:
            return self._last[1]
        names = self._template_names(assignment.cluster_type)
        if not names:
            return Checked()
        words = self._renaming.words(assignment)
        contents = {
            file: content
            for file, content in files.items()
            if file in names and isinstance(content, bytes)
        }
        together = self._proved_together(assignment, names, contents, words)
        if together.files:
            return together
        found = [
            self._proved(assignment, names[file], file, content, words)
            or self._read(assignment, names[file], file, content)
            for file, content in contents.items()
        ]
        return Checked(tuple([file for file, _ in found]), END.join([each for _, each in found]))

    def _template_names(self, cluster_type: ClusterType) -> Mapping[str, str]:
        """Return the Template of each file of a cluster type that is checked."""
        names = self._names.get(cluster_type.name)
        if names is None:
            names = {}
            for file in TARGET_FILES:
                name = template_of(cluster_type, file)
                template = self._templates.get(name)
                holders = (cluster_type, template) if template else (cluster_type,)
                if file != CONFIG_SCRIPT and not any(_is_any(each.annotations) for each in holders):
                    names[file] = name
            self._names[cluster_type.name] = names
        return names

    def _proved_together(
        self,
        assignment: Assignment,
        names: Mapping[str, str],
        contents: Mapping[str, bytes],
        words: Words,
    ) -> Checked:
        """Return the results for sound files by those of their renamed texts; none for others.

        Their references are those of the renamed texts, too: a word is in all files the same. In
        files with faults, an object may not be what it was meant to be, so references are not read.
        """
        content = END.join(contents.values())
        too_large = len(content) > MOST_DATA < max(map(len, contents.values()))
        if too_large or MARK in content or content.count(END) >= len(contents):
            return Checked()
        renamed, templates = rename(content, words), tuple([names[file] for file in contents])
        name = assignment.cluster_type.name
        # Most assignments of a cluster type have the digests of the one before. With its numbers
        # outside of quotes, the text has no result.
        last = self._digests.get(name, ()) if DIGITS not in renamed else ()
        sound = self._sound.get((rename(renamed, last), templates))
        if sound is not None:
            words += last
        elif last:
            sound = self._sound.get((renamed, templates))
        digests: Words = ()
        for digests_of in (quoted_digits, hexadecimal_digests):
            if sound is None:
                found = digests_of(renamed)
                digests += found
                words += found
                renamed = rename(renamed, found)
                sound = self._sound.get((renamed, templates))
        if digests:
            self._digests[name] = digests
        if sound is None:
            parts = renamed.split(END)
            texts = [*map(self._result, contents, parts)]
            sound = Checked()
            if not any(text.problems for text in texts):
                faults = self._reference_faults(assignment, templates, texts, parts)
                sound = Checked(
                    tuple(
                        CheckedFile(template, text.has_objects, of_file)
                        for template, text, of_file in zip(templates, texts, faults, strict=True)
                    ),
                    END.join(text.objects for text in texts),
                )
            self._sound.put((renamed, templates), sound, len(renamed))
        files = sound.files
        if any(file.shown for file in files):
            files = tuple(file._replace(words=words) for file in files)
        return Checked(files, original(sound.joined, words))

    def _reference_faults(
        self,
        assignment: Assignment,
        templates: Sequence[str],
        texts: Sequence[_Text],
        contents: Sequence[bytes],
    ) -> list[tuple[ManifestFault, ...]]:
        """Return the faults of the references of each file among the files of an assignment."""
        identities = [each.split(b"\0") for text in texts for each in text.objects.split(SEPARATOR)]
        objects = [
            (_decoded(kind), _decoded(namespace), _decoded(name))
            for kind, _, namespace, name in (parts for parts in identities if len(parts) == 4)
        ]
        found = [*unmet(objects, [item for text in texts for item in text.references])]
        faults = []
        for template, text, content in zip(templates, texts, contents, strict=True):
            rows = content.decode("utf-8", "replace").split("\n") if found else ()
            faults.append(
                tuple(
                    self._reference_fault(assignment, template, rows, reference, meant)
                    for reference, meant in found
                    if any(reference is item for item in text.references)
                    and (meant or self._is_of_target(template, rows, reference.line))
                )
            )
        return faults

    def _reference_fault(
        self,
        assignment: Assignment,
        template: str,
        rows: Sequence[str],
        reference: Reference,
        meant: str,
    ) -> ManifestFault:
        kind, namespace, name = reference.wanted
        inside = f" in {namespace}" if kind != NAMESPACE else ""
        message = f"{reference.subject}: {reference.path} names {kind} {name!r}{inside}, which "
        message += f"nothing renders: did you mean {meant}?" if meant else "nothing renders"
        advice = "name an object that is rendered, or render it"
        if kind == NAMESPACE and not meant:
            advice = "write the namespace as in the Namespace that is rendered: {{ .Namespace }}"
        elif reference.is_of_own_namespace:
            advice = "render it beside the object: Flux looks in no other namespace"
        elsewhere = meant == ELSEWHERE
        if elsewhere:
            message = f"{reference.subject}: {reference.path} names {kind} {name!r}{inside}, which "
            message += "another cluster type has, but not this one: Flux waits for it for ever"
            advice = "write the dependency only where the object is, or render it there, too"
        where = self._place(assignment, template, rows, reference.line)
        wanted = "\0".join(reference.wanted)
        return ManifestFault(UNMET, message, advice, where, wanted=wanted, elsewhere=elsewhere)

    def _is_of_target(self, template: str, rows: Sequence[str], line: int) -> bool:
        """Return whether a Template prints a line with names of its assignment."""
        source = self._templates.get(template)
        if source is None:
            return False
        lines = self._lines.setdefault(template, _PrintingLines(source))
        return bool(_OF_TARGET.search(lines.text(rows, line)))

    def _proved(
        self, assignment: Assignment, name: str, file: str, content: bytes, words: Words
    ) -> tuple[CheckedFile, bytes] | None:
        """Return the result for a file by that of its renamed text; None if that has no answer."""
        if MARK in content or len(content) > MOST_DATA:  # the size is that of the very text
            return None
        renamed = rename(content, words)
        text = self._results.get(renamed)
        has_digests = False
        for digests_of in (quoted_digits, hexadecimal_digests):
            if text is None:
                digests = digests_of(renamed)
                words += digests
                has_digests = has_digests or bool(digests)
                renamed = rename(renamed, digests)
                text = self._results.get(renamed)
        if text is None:
            text = self._result(file, renamed)
        shown: tuple[ManifestFault, ...] = ()
        if text.problems:
            known = self._shown.setdefault(name, SizedCache(KEPT_BYTES))
            shown = known.get(renamed) or ()
            if not shown:
                read = self._read(assignment, name, file, content)
                shown = _as_shown(read[0].shown, text.problems)
                if not shown:
                    return read
                known.put(renamed, shown, len(renamed))
        identities = text.objects
        if has_digests or MARK in identities:
            identities = original(identities, words)
        return CheckedFile(name, text.has_objects, shown, words if shown else ()), identities

    def _read(
        self, assignment: Assignment, name: str, file: str, content: bytes
    ) -> tuple[CheckedFile, bytes]:
        text = self._result(file, content)
        faults = tuple(self._fault(assignment, name, text, problem) for problem in text.problems)
        return CheckedFile(name, text.has_objects, faults), text.objects

    def _result(self, file: str, content: bytes) -> _Text:
        text = self._results.get(content)
        if text is None:
            text = _checked_text(file, content)
            self._results.put(content, text, len(content))
        return text

    def _fault(
        self, assignment: Assignment, name: str, text: _Text, problem: Problem
    ) -> ManifestFault:
        cause = name, problem.code, _without_names(problem.message, assignment)
        where = self._places.get(cause)
        if where is None:
            line = problem.where.line if problem.where else 0
            where = self._places[cause] = self._place(assignment, name, text.rows, line)
        is_certain, advice = problem.level == "error", problem.advice
        source = self._lines[name].line_at(where) if NO_BLANK in problem.message else ""
        if re.search(r":\s+\{\{-", source):
            advice = "write {{ for {{-, which takes the blank away"
        return ManifestFault(problem.code, problem.message, advice, where, is_certain)

    def _place(self, assignment: Assignment, name: str, rows: Sequence[str], line: int) -> Location:
        template = self._templates.get(name)
        if template is None:  # a file without a Template
            return assignment.cluster_type.at("configType")
        if name not in self._lines:
            self._lines[name] = _PrintingLines(template)
        return self._lines[name].place(rows, line)


class _Text(NamedTuple):
    """The problems of a text at its lines, and the identities of its objects.

    Without problems, there are no rows.
    """

    has_objects: bool
    problems: tuple[Problem, ...]
    objects: bytes
    rows: Sequence[str] = ()
    references: tuple[Reference, ...] = ()


def _decoded(part: bytes) -> str:
    return part.decode("unicode_escape")


def _checked_text(file: str, content: bytes) -> _Text:
    known: dict[tuple[str, ...], Location] = {}
    references: list[Reference] = []
    _, findings = check_manifests(
        Location("", file), content, _OWN_RULES, known=known, references=references
    )
    objects = SEPARATOR.join(
        b"\0".join(part.encode("unicode_escape") for part in (kind, group, *names))
        for group, kind, *names in known
    )
    problems = (*findings.problems, *leveled(findings.warnings, "warning"))
    if not problems:
        return _Text(bool(objects), (), objects, (), tuple(references))
    text = content.decode("utf-8", "replace")
    return _Text(
        bool(objects) or _seems_object(text),
        problems,
        objects,
        text.split("\n"),
    )


def _seems_object(text: str) -> bool:
    """Return whether a text, which may not be YAML, seems to be an object of Kubernetes."""
    return bool(_OBJECT.search(text) or (_KIND.search(text) and _METADATA.search(text)))


def _is_any(annotations: Mapping[str, str]) -> bool:
    return annotations.get(MANIFESTS_ANNOTATION, "").strip() == ANY


def _without_names(message: str, assignment: Assignment) -> str:
    """Return a message without the names of its assignment."""
    target = assignment.target
    names = {target.name, target.workload, target.workspace, assignment.cluster_type.name}
    for name in sorted(filter(None, names), key=len, reverse=True):
        message = message.replace(name, "…")
    return message


def _as_shown(
    faults: Sequence[ManifestFault], renamed: Sequence[Problem]
) -> tuple[ManifestFault, ...]:
    """Return the faults of a file as its renamed text shows them, if other files have them, too.

    That is so if they are the same and depend on the fields of objects alone: a limit of length or
    characters may part two files with one renamed text.
    """
    codes = [problem.code for problem in renamed]
    if not OF_FIELDS.issuperset(codes) or codes != [fault.code for fault in faults]:
        return ()
    return tuple(
        fault._replace(message=problem.message)
        for fault, problem in zip(faults, renamed, strict=True)
    )


class _PrintingLines:
    """Finds the line of a Template that printed a line of its file."""

    def __init__(self, template: Template) -> None:
        self._template = template
        self._lines: list[tuple[int, int, str]] = []
        for index, manifest in enumerate(template.manifests):
            texts = manifest.split("\n") if isinstance(manifest, str) else []
            self._lines += ((index, number, text) for number, text in enumerate(texts, 1))
        self._printing = TemplateLines("\n".join(text for *_, text in self._lines))

    def place(self, rows: Sequence[str], line: int) -> Location:
        """Return the place of the action or text that printed a line of the output.

        A value of several lines has none of its own: the place is that of the next action behind
        the line that printed the text before the value.
        """
        for row in range(line, 0, -1):
            found = self._printing.find(rows, row - 1)
            if found:
                break
        else:
            return self._template.at(0) if self._template.manifests else self._template.where
        if row != line:
            found = next(
                (item for item in range(found + 1, len(self._lines) + 1) if self._prints(item)),
                found,
            )
        return self._at(found)

    def text(self, rows: Sequence[str], line: int) -> str:
        """Return the text of the Template's line that printed a line of the output."""
        found = self._printing.find(rows, line - 1)
        return self._lines[found - 1][2] if found else ""

    def line_at(self, where: Location) -> str:
        """Return the text of the Template's line at a place that `place` has returned."""
        at = (text for index, line, text in self._lines if self._template.at(index, line) == where)
        return next(at, "")

    def of_kind(self, kind: str) -> Location:
        """Return the place of the name of the first object of a kind."""
        pattern = re.compile(rf"\s*-?\s*kind\s*:\s*[\"']?{re.escape(kind)}\b")
        for number, (index, _, text) in enumerate(self._lines, 1):
            if pattern.match(text):
                names = (
                    later
                    for later, (other, _, line) in enumerate(self._lines[number:], number + 1)
                    if other == index and re.match(r"\s*name\s*:", line)
                )
                return self._at(next(names, number))
        return self._template.at(0) if self._template.manifests else self._template.where

    def _at(self, number: int) -> Location:
        index, line, text = self._lines[number - 1]
        return self._template.at(index, line, len(text) - len(text.lstrip()) + 1)

    def _prints(self, number: int) -> bool:
        return any(
            not PRINTS_NOTHING.match(action[0].strip("{}- "))
            for action in ACTION.finditer(self._lines[number - 1][2])
        )


def are_own(assignment: Assignment, checked: Checked) -> bool:
    """Return whether the name or the namespace of each object has the name of its target.

    Such objects are those of one target alone, unless another's texts imitate its name.
    """
    name = assignment.target.name.encode()
    identities = checked.joined.replace(END, SEPARATOR).split(SEPARATOR)
    return all(not each or name in each.partition(b"\0")[2] for each in identities)


MOST_WANTED: Final = 1000
"""The most wanted objects to compare with the name of each target."""


def wanted_of(checked: Iterable[Checked]) -> Callable[[Assignment], bool]:
    """Return whether an assignment may have an object to which another one refers.

    An object of one target alone has its name: see `are_own`.
    """
    wanted = {
        fault.with_words(file.words).wanted
        for each in checked
        for file in each.files
        for fault in file.shown
        if fault.wanted
    }
    if len(wanted) > MOST_WANTED:
        return lambda _: True
    return lambda assignment: any(assignment.target.name in identity for identity in wanted)


@dataclass(frozen=True, slots=True)
class ManifestJudgement:
    """All findings of a fleet's manifests, and the folders of all assignments that have one.

    `faulty` has the first certain fault of each assignment by its folder.
    """

    findings: tuple[Finding, ...] = ()
    folders: frozenset[str] = frozenset()
    faulty: Mapping[str, Failure] = field(default_factory=dict)


class _PrintedValue(NamedTuple):
    """A value of the configuration, or of a target, that a Template prints where a fault is.

    It `is_refused` if the fault is about its very text.
    """

    key: str
    where: Location
    is_refused: bool

    def placed(self, fault: ManifestFault) -> tuple[ManifestFault, Location]:
        """Return the fault at the value if that is refused, else at the Template; both are named.

        The other place comes with it.
        """
        if not self.is_refused:
            message = f"{fault.message}; {self.key} is set in {_short(self.where)}"
            return fault._replace(message=message), self.where
        message = f"{fault.message}; {_short(fault.where)} prints {self.key}"
        advice = fault.advice
        if advice == CORRECT_TEMPLATE:
            advice = f"correct {self.key}, or the Template that prints it"
        return fault._replace(message=message, advice=advice, where=self.where), fault.where


@dataclass(slots=True)
class _Cause:
    template: str
    fault: ManifestFault
    first: Assignment
    related: tuple[Location, ...] = ()
    places: set[tuple[str, str]] = field(default_factory=set)
    """The environments and folders of the assignments."""

    @property
    def is_error(self) -> bool:
        """Whether strict rules refuse it."""
        return self.fault.is_certain and not self.fault.wanted


_Told = tuple[Assignment, str, ManifestFault, Words]
"""A fault of an assignment, the Template, and the words to put back."""


def judge_manifests(
    checked: Iterable[tuple[Assignment, Checked]],
    templates: Iterable[Template],
    manifests: Manifests = "warn",
    config_of: Callable[[Assignment], MergedConfig] | None = None,
) -> ManifestJudgement:
    """Return one finding for each cause, with an example and the number of other assignments.

    A cluster type applies all of its folders together, so no object may occur twice in them. With
    `config_of`, findings name the value of the configuration that the Template printed.
    """
    rows = list(checked)
    by_name = {template.name: template for template in templates}
    shared = {id(each.files): each.files for _, each in rows}.values()
    with_objects = {file.template for files in shared for file in files if file.has_objects}
    without = {file.template: None for files in shared for file in files}
    values = _PrintedValues(by_name, config_of) if config_of else None
    causes: dict[tuple[Location, str, Location | None], _Cause] = {}
    faulty: dict[str, Failure] = {}
    met = _rendered_objects(rows)
    is_strict = manifests == "strict"
    for assignment, name, fault, words in chain(
        _faults(rows, with_objects), _duplicates(rows, by_name)
    ):
        if not is_strict and not fault.is_certain:
            continue
        if fault.wanted and met(assignment, fault.with_words(words)):
            continue
        value = values.of(assignment, name, fault, words) if values else None
        key = fault.where, fault.code, value.where if value else None
        if value and value.is_refused:  # whichever Template prints it
            key = value.where, fault.code, None
        cause, folder = causes.get(key), assignment.folder
        fails = fault.is_certain and not fault.wanted and folder not in faulty
        if cause is None or fails:
            own = fault.with_words(words)
            own, *related = value.placed(own) if value else (own,)
        if cause is None:
            cause = causes[key] = _Cause(name, own, assignment, tuple(related))
        cause.places.add((assignment.target.environment, folder))
        if fails:
            message = _subject(name, by_name) + own.message
            faulty[folder] = Failure(message, own.where, own.advice, code=own.code)
    found = [
        replace(
            _told(cause, by_name),
            level="error" if is_strict and cause.is_error else "warning",
            scope="assignment",
        )
        for cause in causes.values()
    ]
    notes = (
        Problem(
            f"Template {name!r} prints no Kubernetes object: its files are not checked",
            by_name[name].where,
            f"annotate it {MANIFESTS_ANNOTATION}: {ANY} if that is right",
            NOT_KUBERNETES,
        )
        for name in without
        if name not in with_objects and name in by_name
    )
    folders = frozenset(folder for cause in causes.values() for _, folder in cause.places)
    return ManifestJudgement((*found, *leveled(notes, "note", "assignment")), folders, faulty)


def _faults(rows: Iterable[tuple[Assignment, Checked]], with_objects: set[str]) -> Iterator[_Told]:
    for assignment, checked in rows:
        for file in checked.files:
            for fault in file.shown if file.template in with_objects else ():
                yield assignment, file.template, fault, file.words


def _rendered_objects(
    rows: Sequence[tuple[Assignment, Checked]],
) -> Callable[[Assignment, ManifestFault], bool]:
    """Return whether any assignment of the same cluster type has the wanted object.

    An object that counts only elsewhere is missing only if another cluster type has it.
    """
    cluster_types = {assignment.cluster_type.name for assignment, _ in rows}

    @cache
    def objects(environment: str, cluster_type: str) -> set[str]:
        of_type = (
            identity
            for assignment, checked in rows
            if assignment.target.environment == environment
            and assignment.cluster_type.name == cluster_type
            for _, identities in checked.objects
            for identity in identities
        )
        parts = (identity.split(b"\0") for identity in of_type)
        return {
            "\0".join(map(_decoded, (kind, namespace, name))) for kind, _, namespace, name in parts
        }

    def met(assignment: Assignment, fault: ManifestFault) -> bool:
        environment = assignment.target.environment
        if fault.wanted in objects(environment, assignment.cluster_type.name):
            return True
        return fault.elsewhere and not any(
            fault.wanted in objects(environment, name) for name in cluster_types
        )

    return met


def _duplicates(
    rows: Iterable[tuple[Assignment, Checked]], templates: Mapping[str, Template]
) -> Iterator[_Told]:
    """Yield a fault of both assignments for each object that a cluster type has already."""
    seen: dict[tuple[str, str], dict[bytes, Assignment]] = {}
    places: dict[tuple[str, str], Location] = {}
    for assignment, checked in rows:
        place = assignment.target.environment, assignment.cluster_type.name
        of_type = seen.setdefault(place, {})
        for file, identities in checked.objects:
            for identity in identities:
                first = of_type.get(identity)
                if first is None:
                    of_type[identity] = assignment
                    continue
                if first is assignment and (twice := _named_twice(assignment, file.template)):
                    yield assignment, file.template, twice, ()
                    continue
                parts = identity.split(b"\0")
                kind, _, namespace, name = (part.decode("unicode_escape") for part in parts)
                where = places.get((file.template, kind))
                if where is None:
                    template = templates.get(file.template)
                    where = assignment.cluster_type.where
                    where = _PrintingLines(template).of_kind(kind) if template else where
                    places[file.template, kind] = where
                inside = "" if namespace == "default" else f" in {namespace}"
                fault = ManifestFault(
                    DUPLICATE,
                    f"{kind} {name!r}{inside} is made twice on {first.cluster_type.name}, also "
                    f"for {first.target.name}",
                    "print a name or a namespace for each target: kustomize, which Flux runs, "
                    "builds nothing of this cluster type",
                    where,
                )
                yield assignment, file.template, fault, ()
                yield first, file.template, fault, ()


def _named_twice(assignment: Assignment, template: str) -> ManifestFault | None:
    """Return the fault of a cluster type that names one Template by several fields."""
    cluster_type = assignment.cluster_type
    fields = {
        "reconciler": cluster_type.reconciler,
        "namespaceService": cluster_type.namespace_service,
        "configType": cluster_type.config_type,
    }
    first, *others = [field for field, name in fields.items() if name == template]
    if not others:
        return None
    return ManifestFault(
        DUPLICATE,
        f"{first} and {others[0]} of ClusterType {cluster_type.name!r} name it, so its objects are "
        f"made twice on {cluster_type.name}",
        f"name a Template of the right type as {others[0]}",
        cluster_type.at(others[0]),
    )


def _subject(name: str, templates: Mapping[str, Template]) -> str:
    return f"Template {name!r}: " if name in templates else ""


def _told(cause: _Cause, templates: Mapping[str, Template]) -> Problem:
    fault, example = cause.fault, cause.first
    others = len(cause.places) - 1
    also = f"; also for {counted(others, 'other assignment')}" if others else ""
    return Problem(
        f"{_subject(cause.template, templates)}{fault.message} "
        f"({example.target.name} on {example.cluster_type.name}{also})",
        fault.where,
        fault.advice,
        fault.code,
        related=cause.related,
    )


def _short(where: Location) -> str:
    """Return a place without its repository, that of the Template."""
    return str(replace(where, repository=HERE))


class _PrintedValues:
    """Finds the values of the configuration and targets that Templates print where a fault is."""

    def __init__(
        self,
        templates: Mapping[str, Template],
        config_of: Callable[[Assignment], MergedConfig],
    ) -> None:
        self._templates = templates
        self._config_of = config_of
        self._paths: dict[str, dict[int, list[tuple[str, ...]]]] = {}
        self._looked_up: Counter[Location] = Counter()

    def of(
        self, assignment: Assignment, name: str, fault: ManifestFault, words: Words
    ) -> _PrintedValue | None:
        """Return the value that a fault is about, if there is one.

        It is the only one that the Template's line reads, or its text is in the message.
        """
        paths = self._read_at(name).get(fault.where.line, ())
        if not paths or fault.code == DUPLICATE or self._looked_up[fault.where] >= LOOKED_UP:
            return None
        self._looked_up[fault.where] += 1
        config, message = self._config_of(assignment), fault.with_words(words).message
        target = assignment.target
        best: tuple[tuple[int, bool], tuple[str, ...], str] | None = None
        for root, *read in paths:
            values = target.manifests if root == "Manifests" else config.values
            for path, text in _nodes_below(values, tuple(read)):
                shown = len(text) if text in message else 0
                is_named = bool(path) and bool(re.search(rf"[.']{re.escape(path[-1])}\b", message))
                is_alone = len(paths) == 1 and path == tuple(read)
                likeness = shown * (is_named or path == tuple(read)), is_named or is_alone
                if path and any(likeness) and (best is None or likeness > best[0]):
                    best = likeness, (root, *path), text
        if best is None:
            return None
        (shown, _), (root, *keys), text = best
        path = tuple(keys)
        is_refused = bool(shown) and fault.code in OF_TEXTS and repr(text) in message
        if root == "Manifests":
            where = target.at(path[0])
            return _PrintedValue(path[0], where, is_refused) if is_refused else None
        origins = config.origins_of(path[0])
        places = origins.get(path) or origins.get(path[:1])
        return _PrintedValue(".".join(path), places[-1], is_refused) if places else None

    def _read_at(self, name: str) -> Mapping[int, Sequence[tuple[str, ...]]]:
        """Return the keys of the configuration and the target that each line reads."""
        if name not in self._paths:
            lines: dict[int, list[tuple[str, ...]]] = {}
            template = self._templates.get(name)
            for names, where in fields_read(template) if template else ():
                if names[0] in {"ConfigData", "Manifests"}:
                    lines.setdefault(where.line, []).append(names)
            self._paths[name] = lines
        return self._paths[name]


def _nodes_below(values: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the paths at and below a path of the configuration, with their texts ("" for none)."""
    for step in path:
        values = values.get(step) if isinstance(values, Mapping) else None
    pending = [(path, values)]
    while pending:
        place, value = pending.pop()
        if isinstance(value, Mapping):
            pending += (((*place, str(key)), inner) for key, inner in value.items())
        yield place, "" if isinstance(value, Mapping | list) or value is None else str(value)
