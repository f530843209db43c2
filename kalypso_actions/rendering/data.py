"""The data and the functions of a template: upstream's `dataType`, built once for each assignment.

Upstream's functions return "" if they fail; ours raise, because a manifest without its
configuration is worse than none. `hash` is that of hashstructure 1.1.0 with its default function,
FNV-1 with 64 bits:

    text        its bytes                      list    ordered(hash so far, element), from 0
    int         its bytes, little-endian       map     exclusive or of all ordered(key, value)
    float       8 bytes                        struct  its type's name, then a map of its fields
    bool        1 byte                         nil     the int 0

`ordered(a, b)` is the hash of the 16 bytes of two hashes.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Final, Literal

from kalypso_actions.model.kinds import Assignment
from kalypso_go import goyaml
from kalypso_go.gotemplate import DEFAULT_LIMITS, sprig
from kalypso_go.gotemplate.budget import Budget, LimitError, work_of
from kalypso_go.gotemplate.sprig.coercion import check_depth
from kalypso_go.gotemplate.sprig.dates import TIME, TimeValue
from kalypso_go.gotemplate.sprig.instants import UTC_LOCATION, Instant
from kalypso_go.gotemplate.text import SPACES, to_bytes
from kalypso_go.gotemplate.values import (
    ANY,
    ANY_MAP,
    ANY_SLICE,
    STRING,
    STRING_MAP,
    UINT64,
    YAML_MAP,
    Function,
    FunctionError,
    GoInt,
    GoMap,
    GoSlice,
    GoStruct,
    Type,
    keep_results,
    plain_key,
    type_of,
)

RFC_3339_NANO: Final = "2006-01-02T15:04:05.999999999Z07:00"
MAX_INT64: Final = (1 << 63) - 1


def to_yaml(budget: Budget, value: object) -> str:
    """Implement `toYaml`: the value as yaml.v3 writes it, without the last line feed.

    Raises `FunctionError` for a value that YAML cannot express, `LimitError` for one that is too
    large or too deep.
    """
    try:
        text = goyaml.dump_v3(value, budget.limits.output_bytes, _represent)
    except goyaml.YAMLBoundError as error:
        raise LimitError(error.message) from error
    except goyaml.YAMLError as error:
        raise FunctionError(error.message) from error
    budget.reserve(len(text), "toYaml")
    return text.removesuffix("\n")


def stringify(budget: Budget, value: object) -> str:
    """Implement `stringify`: `toYaml` of a map in which each list becomes the text of its YAML.

    The texts keep their final newline, which `toYaml` removes. Nested `map[string]interface {}`
    become texts, too. Mappings in configuration have another type, and stay mappings.
    """
    if type_of(value) != ANY_MAP or not isinstance(value, dict):
        return to_yaml(budget, value)
    texts = dict(value)
    for key, inner in value.items():
        if type(inner) is not str and type_of(inner) in (ANY_SLICE, ANY_MAP):
            texts[key] = to_yaml(budget, inner) + "\n"
    return to_yaml(budget, texts)


def hash_(budget: Budget, value: object) -> str:
    """Implement `hash`: hashstructure's hash of the value, in decimal digits."""
    return str(hash_of(value, budget))


def unquote(value: object) -> str:
    """Implement `unquote`: strip space, then `"`, then `'` from a text; "" for other values."""
    if not isinstance(value, str):
        return ""
    return value.strip(SPACES).strip('"').strip("'")


FUNCTIONS: Final[Mapping[str, Function]] = MappingProxyType(
    {
        **sprig.FUNCTIONS,
        "toYaml": Function("toYaml", to_yaml, (ANY,), result=STRING, takes_budget=True),
        "stringify": Function("stringify", stringify, (ANY,), result=STRING, takes_budget=True),
        "hash": Function("hash", hash_, (ANY,), result=STRING, takes_budget=True),
        "unquote": Function("unquote", unquote, (ANY,), result=STRING),
    }
)
"""The functions of templates, in addition to Go's own."""

REFUSED: Final[Mapping[str, str]] = sprig.REFUSED
"""The functions that exist in upstream but not here, and why."""


def _represent(value: object) -> object:
    """Represent structs, and the types that yaml.v3 writes in a special way."""
    if isinstance(value, GoStruct):
        if value.type == TIME and not value.pointer:
            return goyaml.Verbatim(value.methods["Format"].call(RFC_3339_NANO))
        return goyaml.InOrder({name.lower(): field for name, field in value.fields.items()})
    if isinstance(value, GoInt) and value.type.name == "time.Duration":
        return value.methods["String"].call()
    if isinstance(value, dict | list | str | int | float):
        return value
    raise goyaml.YAMLError(f"cannot marshal type: {type_of(value)}")


def to_template_value(value: object) -> object:
    """Copy a value of `goyaml.parse` into yaml.v2's Go types; templates may change the copy.

    A mapping with the keys 1 and true (or 1 and 1.0, 0 and false) keeps the keys of `goyaml.parse`,
    because Python's plain keys are equal.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        copy = GoMap(YAML_MAP)
        for key, inner in value.items():
            # Texts are most of the keys and values, and need no call.
            own_key = key if type(key) is str else plain_key(_unsigned(key))
            copy[own_key] = inner if type(inner) is str else to_template_value(inner)
        if len(copy) == len(value):
            return copy
        pairs = [(_unsigned(key), to_template_value(inner)) for key, inner in value.items()]
        return GoMap(YAML_MAP, pairs)
    if isinstance(value, list):
        return [to_template_value(item) for item in value]
    return _unsigned(value)


def _unsigned(value: object) -> object:
    """Give an integer beyond int64 its Go type."""
    if isinstance(value, int) and value > MAX_INT64:
        return GoInt(UINT64, value)
    return value


OFFSET: Final = 0xCBF29CE484222325
PRIME: Final = 0x100000001B3
MASK: Final = (1 << 64) - 1

WIDTHS: Final = {"int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4}
"""Integers of fewer than eight bytes."""

GO_NAN: Final = (0x7FF8000000000001).to_bytes(8, "little")
MAX_HASHED_DEPTH: Final = 100
CACHED_LENGTH: Final = 256
ELEMENT_WORK: Final = 256
"""The cost of an element, in characters: a list that contains itself many times is small."""
_hashes: goyaml.ContentCache[tuple[int, int]] = goyaml.ContentCache(2048)

SECONDS_FROM_YEAR_1_TO_1970: Final = 62_135_596_800


def hash_of(value: object, budget: Budget) -> int:
    """Return the hash of a value of a template.

    Raises `FunctionError` for functions and complex numbers, and `LimitError` for a value that is
    nested too deeply or is beyond the budget.
    """
    key = goyaml.content_key(value)
    known = _hashes.get(key)
    if known is not None:
        result, work = known
        budget.spend(work, "hash")  # the limit is independent of the cache
        return result
    before = budget.work
    result = _Hasher(budget).visit(value, 0)
    work = budget.work - before  # counts each character
    _hashes.put(key, (result, work), work)
    return result


class _Hasher:
    """Visits one value with everything in it."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget

    def visit(self, value: object, depth: int) -> int:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict | list | GoStruct):
            if depth > MAX_HASHED_DEPTH:
                raise LimitError(f"hash: values may nest {MAX_HASHED_DEPTH} levels")
            if isinstance(value, list):
                return self.sequence(value, depth + 1)
            if isinstance(value, dict):
                return self.entries(value, depth + 1)
            return self.structure(value, depth + 1)
        return _number(value)

    def text(self, text: str) -> int:
        self.budget.spend(len(text), "hash")
        return _text(text) if len(text) > CACHED_LENGTH else _cached_text(text)

    def sequence(self, elements: list[object], depth: int) -> int:
        self.budget.spend(len(elements) * ELEMENT_WORK, "hash")
        result = 0
        for element in elements:
            result = _ordered(result, self.visit(element, depth))
        return result

    def entries(self, mapping: dict[object, object], depth: int) -> int:
        self.budget.spend(len(mapping) * ELEMENT_WORK, "hash")
        result = characters = 0
        for key, value in mapping.items():
            if type(key) is type(value) is str and (size := len(key) + len(value)) <= CACHED_LENGTH:
                result ^= _cached_text_entry(key, value)  # most entries
                characters += size
            else:
                result ^= _ordered(self.visit(key, depth), self.visit(value, depth))
        self.budget.spend(characters, "hash")  # at most CACHED_LENGTH for each counted element
        return result

    def structure(self, value: GoStruct, depth: int) -> int:
        if isinstance(value, TimeValue):
            return _fnv(_binary_time(value.instant))
        result = self.text(value.type.name.rpartition(".")[2])
        for name, member in value.fields.items():
            result ^= _ordered(self.text(name), self.visit(member, depth))
        return result


def _number(value: object) -> int:
    if value is None:
        return _cached_fnv(bytes(8))
    if isinstance(value, bool):
        return _cached_fnv(bytes([value]))
    if isinstance(value, int):
        width = WIDTHS.get(value.type.kind, 8) if isinstance(value, GoInt) else 8
        return _cached_fnv((value & MASK).to_bytes(8, "little")[:width])
    if isinstance(value, float):
        # Python's and Go's NaN have different bits.
        return _cached_fnv(struct.pack("<d", value) if value == value else GO_NAN)  # noqa: PLR0124
    known = type_of(value)
    raise FunctionError(f"unknown kind to hash: {known.kind if known else 'invalid'}")


def _fnv(data: bytes) -> int:
    result = OFFSET
    for byte in data:
        result = (result * PRIME & MASK) ^ byte
    return result


_cached_fnv = lru_cache(maxsize=1 << 12)(_fnv)


def _text(text: str) -> int:
    return _fnv(to_bytes(text))


_cached_text = lru_cache(maxsize=1 << 14)(_text)


@lru_cache(maxsize=1 << 14)
def _cached_text_entry(key: str, text: str) -> int:
    return _ordered(_cached_text(key), _text(text))


@lru_cache(maxsize=1 << 14)
def _ordered(first: int, second: int) -> int:
    return _fnv(struct.pack("<QQ", first, second))


def _binary_time(instant: Instant) -> bytes:
    """Encode as Go's `Time.MarshalBinary`: version, seconds, nanoseconds, offset (-1: UTC)."""
    seconds = instant.unix + SECONDS_FROM_YEAR_1_TO_1970
    minutes, odd_seconds = -1, 0
    if instant.location != UTC_LOCATION:
        offset = instant.zone()[1]
        odd_seconds = abs(offset) % 60 * (1 if offset >= 0 else -1)
        minutes = (offset - odd_seconds) // 60
        if minutes == -1 or not -(1 << 15) <= minutes < 1 << 15:
            raise FunctionError("Time.MarshalBinary: unexpected zone offset")
    version = 2 if odd_seconds else 1
    data = struct.pack(">BqIh", version, seconds, instant.nanosecond, minutes)
    return data + struct.pack(">b", odd_seconds) if odd_seconds else data


DATA_TYPE = Type("struct", "scheduler.dataType")

FIELDS = (
    "DeploymentTargetName",
    "Namespace",
    "Environment",
    "Workspace",
    "Workload",
    "Labels",
    "Manifests",
    "ClusterType",
    "ConfigData",
    "Repo",
    "Branch",
    "Path",
)
"""The names that a Go template can use after the first dot."""

_OLD_NAMES = {"Repo": "repo", "Branch": "branch", "Path": "path"}
"""Fields that the first templates used; now they are `.Manifests.repo` and so on."""

JINJA_NAMES = tuple(name for name in FIELDS if name not in _OLD_NAMES)
"""The names that a Jinja2 template can use."""


class SharedConfig:
    """A configuration as Go templates see it, shared by assignments whose Templates change nothing.

    `work` is the work of reading it.
    """

    __slots__ = ("go", "work")

    def __init__(self, values: Mapping[str, object]) -> None:
        self.go = go_config(values)
        keep_results(self.go)
        self.work = work_of(values, DEFAULT_LIMITS.work)


class SharedTexts:
    """The labels and manifests of a target, which its assignments share.

    `work` is the work of reading them; `methods` are the data's methods, which depend only on them.
    """

    __slots__ = ("methods", "work")

    def __init__(self, labels: Mapping[str, str], manifests: Mapping[str, str]) -> None:
        limit = DEFAULT_LIMITS.work
        self.work = work_of(labels, limit) + work_of(manifests, limit)
        self.methods = {
            name: Function(name, partial(_manifest_entry, manifests, key), result=STRING)
            for name, key in _OLD_NAMES.items()
        }


def _manifest_entry(manifests: Mapping[str, str], key: str) -> str:
    if key not in manifests:
        raise FunctionError(f"the deployment target's manifests have no {key!r}")
    return manifests[key]


@dataclass(slots=True)
class TemplateData:
    """The data of one assignment.

    All manifests and Templates of the assignment share `go`, which is built once: functions such as
    sprig's `set` change it for the manifests rendered later. They also share `budget`, which limits
    the work of the assignment, whatever other assignments take.
    """

    target: str
    namespace: str
    environment: str
    workspace: str
    workload: str
    labels: Mapping[str, str]
    manifests: Mapping[str, str]
    cluster_type: str
    config: Mapping[str, object]
    budget: Budget = field(default_factory=lambda: Budget(DEFAULT_LIMITS), repr=False)
    later_templates: list[int] = field(default_factory=list, compare=False)
    """The number of actions in each output that was rendered again."""
    shared: SharedConfig | None = field(default=None, repr=False, compare=False)
    """The configuration that assignments share; None if Templates may change it."""
    shared_texts: SharedTexts | None = field(default=None, repr=False, compare=False)
    texts: SharedTexts = field(init=False, repr=False, compare=False)
    """The `shared_texts`, or new ones if these are None."""
    _go: GoStruct | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Count the data once, because Templates may read it; calls count large data again."""
        limit = self.budget.limits.work
        of_config = self.shared.work if self.shared else work_of(self.config, limit)
        self.texts = self.shared_texts or SharedTexts(self.labels, self.manifests)
        self.budget.work += of_config + self.texts.work

    @property
    def go(self) -> GoStruct:
        """The data as a Go value, with a copy of the configuration, which templates may change."""
        if self._go is None:
            self._go = GoStruct(
                DATA_TYPE,
                {
                    "DeploymentTargetName": self.target,
                    "Namespace": self.namespace,
                    "Environment": self.environment,
                    "Workspace": self.workspace,
                    "Workload": self.workload,
                    "Labels": GoMap(STRING_MAP, self.labels),
                    "Manifests": GoMap(STRING_MAP, self.manifests),
                    "ClusterType": self.cluster_type,
                    "ConfigData": self.shared.go if self.shared else go_config(self.config),
                },
                self.texts.methods,
            )
        return self._go

    def copy_of_go(self) -> GoStruct:
        """Copy the data as earlier templates have left it. Raises LimitError.

        A text of the configuration that is a template gets the copy, so it changes no data.
        """
        go = self.go
        copies: dict[int, object] = {}
        fields = {name: _copy(value, copies, 0) for name, value in go.fields.items()}
        return GoStruct(go.type, fields, go.methods)

    def with_manifests(
        self, manifests: Mapping[str, str], budget: Budget | None = None
    ) -> TemplateData:
        """Return the assignment's data with other `manifests`, before any template changes it."""
        own = budget or Budget(self.budget.limits)
        return replace(
            self, manifests=manifests, budget=own, later_templates=[], shared_texts=None, _go=None
        )


def go_config(values: Mapping[str, object]) -> GoMap:
    """Copy a configuration as templates see it."""
    config = GoMap(ANY_MAP, values)
    for key, value in values.items():
        if type(value) is not str:  # texts are most of the values
            config[key] = to_template_value(value)
    return config


def _copy(value: object, copies: dict[int, object], depth: int) -> object:
    """Copy maps and lists, each once; `copies` maps the identity of an original to its copy."""
    if not isinstance(value, dict | list):
        return value
    if id(value) in copies:
        return copies[id(value)]
    check_depth(depth, "the data")
    if isinstance(value, dict):
        mapping = GoMap(value.type, nil=value.nil) if isinstance(value, GoMap) else {}
        copies[id(value)] = mapping
        mapping.update((key, _copy(inner, copies, depth + 1)) for key, inner in value.items())
        return mapping
    items = GoSlice(value.type, nil=value.nil) if isinstance(value, GoSlice) else []
    copies[id(value)] = items
    items.extend(_copy(inner, copies, depth + 1) for inner in value)
    return items


NamespaceScheme = Literal["current", "legacy"]


def namespace_of(assignment: Assignment, environment: str, scheme: NamespaceScheme) -> str:
    """Return `<environment>-<cluster type>-<target>`; `legacy` has the workspace in the middle."""
    legacy = scheme == "legacy"
    middle = assignment.target.workspace if legacy else assignment.cluster_type.name
    return f"{environment}-{middle}-{assignment.target.name}"
