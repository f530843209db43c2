"""The nodes of a parsed template.

`str(node)` is template text again, as Go's errors show the node. `position` is the index into the
text where Go's errors place the node.
"""

from __future__ import annotations

from dataclasses import dataclass

from kalypso_go.gotemplate.text import SPACES, quote


@dataclass(frozen=True, slots=True)
class Node:
    """Anything with a position in the text."""

    position: int


@dataclass(frozen=True, slots=True)
class Bool(Node):
    """`true` or `false`."""

    value: bool

    def __str__(self) -> str:
        return "true" if self.value else "false"


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A numeric constant in every type that can hold it; None for types that cannot."""

    text: str
    integer: int | None = None
    unsigned: int | None = None
    floating: float | None = None
    complex: complex | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class String(Node):
    """A string constant, as written and as a value."""

    quoted: str
    text: str

    def __str__(self) -> str:
        return self.quoted


@dataclass(frozen=True, slots=True)
class Nil(Node):
    """`nil`."""

    def __str__(self) -> str:
        return "nil"


@dataclass(frozen=True, slots=True)
class Dot(Node):
    """`.`."""

    def __str__(self) -> str:
        return "."


@dataclass(frozen=True, slots=True)
class Field(Node):
    """`.Name` or `.Name.Name`."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return "".join(f".{name}" for name in self.names)


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """`$name` or `$name.Name`: the variable first, with its `$`."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(self.names)


@dataclass(frozen=True, slots=True)
class Identifier(Node):
    """The name of a function."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Chain(Node):
    """Fields of a pipeline or function: `(pipeline).Name` or `function.Name`."""

    node: Pipe | Identifier
    names: tuple[str, ...]

    def __str__(self) -> str:
        inner = f"({self.node})" if isinstance(self.node, Pipe) else str(self.node)
        return inner + "".join(f".{name}" for name in self.names)


@dataclass(frozen=True, slots=True)
class Command(Node):
    """An operand, or a function or method with its arguments."""

    arguments: tuple[Operand, ...]

    def __str__(self) -> str:
        return " ".join(
            f"({argument})" if isinstance(argument, Pipe) else str(argument)
            for argument in self.arguments
        )


@dataclass(frozen=True, slots=True)
class Pipe(Node):
    """`$variables := command | command`."""

    commands: tuple[Command, ...]
    variables: tuple[Variable, ...] = ()
    assigns: bool = False

    def __str__(self) -> str:
        text = " | ".join(map(str, self.commands))
        if not self.variables:
            return text
        sign = "=" if self.assigns else ":="
        return f"{', '.join(map(str, self.variables))} {sign} {text}"


Operand = Bool | Number | String | Nil | Dot | Field | Variable | Identifier | Chain | Pipe


@dataclass(frozen=True, slots=True)
class Text(Node):
    """Plain text."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Action(Node):
    """`{{pipeline}}`."""

    pipe: Pipe

    def __str__(self) -> str:
        return f"{{{{{self.pipe}}}}}"


@dataclass(frozen=True, slots=True)
class Break(Node):
    """`{{break}}`."""

    def __str__(self) -> str:
        return "{{break}}"


@dataclass(frozen=True, slots=True)
class Continue(Node):
    """`{{continue}}`."""

    def __str__(self) -> str:
        return "{{continue}}"


@dataclass(frozen=True, slots=True)
class TemplateCall(Node):
    """`{{template "name" pipeline}}`."""

    name: str
    pipe: Pipe | None

    def __str__(self) -> str:
        argument = f" {self.pipe}" if self.pipe else ""
        return f"{{{{template {quote(self.name)}{argument}}}}}"


@dataclass(frozen=True, slots=True)
class Body(Node):
    """The nodes between two matching actions, or the whole template."""

    nodes: tuple[Statement, ...]

    def __str__(self) -> str:
        return "".join(map(str, self.nodes))

    def is_empty(self) -> bool:
        """Return whether the body holds only white space."""
        return all(isinstance(node, Text) and not node.text.strip(SPACES) for node in self.nodes)


@dataclass(frozen=True, slots=True)
class Case(Node):
    """One condition of an `if` or `with`, and its body."""

    pipe: Pipe
    body: Body


def _cases(keyword: str, cases: tuple[Case, ...], otherwise: Body | None) -> str:
    """Write `else if` as an `if` inside the `else`, like Go."""
    chain = "{{else}}".join(f"{{{{{keyword} {case.pipe}}}}}{case.body}" for case in cases)
    last = "" if otherwise is None else f"{{{{else}}}}{otherwise}"
    return chain + last + "{{end}}" * len(cases)


@dataclass(frozen=True, slots=True)
class If(Node):
    """`{{if pipeline}} … {{else if pipeline}} … {{else}} … {{end}}`."""

    cases: tuple[Case, ...]
    otherwise: Body | None

    def __str__(self) -> str:
        return _cases("if", self.cases, self.otherwise)


@dataclass(frozen=True, slots=True)
class With(Node):
    """`{{with pipeline}} … {{else with pipeline}} … {{else}} … {{end}}`."""

    cases: tuple[Case, ...]
    otherwise: Body | None

    def __str__(self) -> str:
        return _cases("with", self.cases, self.otherwise)


@dataclass(frozen=True, slots=True)
class Range(Node):
    """`{{range pipeline}} … {{else}} … {{end}}`."""

    pipe: Pipe
    body: Body
    otherwise: Body | None

    def __str__(self) -> str:
        last = "" if self.otherwise is None else f"{{{{else}}}}{self.otherwise}"
        return f"{{{{range {self.pipe}}}}}{self.body}{last}{{{{end}}}}"


Statement = Text | Action | If | With | Range | TemplateCall | Break | Continue
