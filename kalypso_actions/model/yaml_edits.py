"""Places in the text of a YAML document, for changes that keep comments, order and other fields.

value = value_of(yaml.compose(text, Loader=yaml.SafeLoader), "spec")
value.start_mark.index, value.end_mark.index
"""

from __future__ import annotations

import yaml


def value_of(node: yaml.Node | None, key: str) -> yaml.Node | None:
    """Return the value of a key of a mapping, if there is one."""
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if text_of(name) == key:
                node_value: yaml.Node = value
                return node_value
    return None


def text_of(node: yaml.Node | None) -> str | None:
    """Return the text of a scalar."""
    return node.value if isinstance(node, yaml.ScalarNode) else None


def newline_of(text: str) -> str:
    """Return the line end that a text uses."""
    return "\r\n" if "\r\n" in text else "\n"


def end_of(node: yaml.Node) -> int:
    """Return the end of the last scalar of a node; a block ends where the next thing begins."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return int(node.end_mark.index)


def at_line_end(text: str, position: int, newline: str) -> tuple[str, str]:
    """Cut the text after the line of `position`, which may be the beginning of the next line."""
    end = text.find("\n", position - 1) + 1
    return (text[:end], text[end:]) if end else (text + newline, "")
