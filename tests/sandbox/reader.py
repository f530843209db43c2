"""A person with a browser without scripts: reads pages of a sandbox, and sends their forms."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final
from urllib.parse import urlsplit

import requests

from kalypso_sandbox import Sandbox
from tests.sandbox.served_sandbox import ask

HTML: Final = {"Accept": "text/html,*/*"}


@dataclass
class Form:
    """A form of a page: its address, and its fields with their present values."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)
    buttons: list[str] = field(default_factory=list)


class Page(HTMLParser):
    """A page: its texts, its links, its elements with their attributes, and its forms."""

    def __init__(self, answer: requests.Response) -> None:
        super().__init__()
        self.status = answer.status_code
        self.source = answer.text
        self.headers = answer.headers
        self.path = urlsplit(answer.url).path
        self.location = answer.headers.get("Location", "")
        self.forms: list[Form] = []
        self.links: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self._texts: list[str] = []
        self._open: list[str] = []
        self.feed(answer.text)

    @property
    def text(self) -> str:
        """What a person reads, with single spaces."""
        return " ".join("".join(self._texts).split())

    def form(self, end: str) -> Form:
        """Return the form whose address ends so."""
        (form,) = [each for each in self.forms if each.action.endswith(end)]
        return form

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.elements.append((tag, given))
        if tag not in {"input", "meta", "br", "hr"}:
            self._open.append(tag)
        if tag == "a":
            self.links.append(given.get("href", ""))
        if tag == "form":
            self.forms.append(Form(given.get("action", self.path)))
        if self.forms and "form" in self._open:
            form = self.forms[-1]
            if tag in {"input", "textarea"} and given.get("type") != "radio":
                form.fields[given["name"]] = given.get("value", "")
            if tag == "input" and given.get("type") == "radio" and "checked" in given:
                form.fields[given["name"]] = given["value"]
            if tag == "button" and "disabled" not in given:
                form.buttons.append(given.get("name", ""))

    def handle_endtag(self, tag: str) -> None:
        while tag in self._open and self._open.pop() != tag:
            continue

    def handle_data(self, data: str) -> None:
        if not {"style", "script", "title"} & set(self._open):
            self._texts.append(data)
        if self._open[-1:] == ["textarea"]:
            name = next(each["name"] for tag, each in reversed(self.elements) if tag == "textarea")
            self.forms[-1].fields[name] = data.removeprefix("\n")


class Reader:
    """Opens pages, and follows redirects after forms."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    def open(self, path: str, **headers: str) -> Page:
        """Open a page by its path or URL."""
        path = path.removeprefix(self.sandbox.url).partition("#")[0]
        return Page(ask(self.sandbox, "GET", path, headers={**HTML, **headers}))

    def send(self, page: Page, end: str, **fields: str) -> Page:
        """Send the form whose address ends so; return the page to which it leads."""
        form = page.form(end)
        data = {**form.fields, **fields}
        sent = Page(ask(self.sandbox, "POST", form.action, headers=HTML, data=data))
        return self.open(sent.location) if sent.status == 303 else sent
