"""The API of an Argo CD, read with a token.

    argocd = ArgoCD(server, token, environment, now=runtime.now, sleep=runtime.sleep)
    argocd.sees_all_applications(), argocd.applications("team=web"), argocd.cluster_names()

Lists leave out what the token may not see, with status 200; they have no pages.
"""

from __future__ import annotations

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import requests
from urllib3.exceptions import HTTPError

from kalypso_actions import __version__
from kalypso_actions.clients.network import TIMEOUT, Session
from kalypso_actions.errors import KalypsoError, Location

LONGEST_RETRY: Final = timedelta(seconds=30)
"""How long the questions of one look are asked again after answers that may pass."""

PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})

LARGEST: Final = 1 << 29
"""The most bytes of an answer: a list item has about 11 kB, 40,000 Applications 440 MB."""

LONGEST_ANSWER: Final = timedelta(minutes=3)

PART: Final = 1 << 18

APPLICATION: Final = "Application"

UNUSED: Final = frozenset(
    {
        *("helm", "kustomize", "plugin", "history", "managedFields", "annotations", "comparedTo"),
        *("syncPolicy", "summary", "ignoreDifferences", "initiatedBy", "retry"),
    }
)
"""Fields that no rule reads, and that make most of a list: Helm's values stand there twice."""

ADVICE: Final[Mapping[int, str]] = {
    401: "give a valid token in argocd-tokens: it may have expired, or belong to another server",
    403: "allow the account of the token in argocd-rbac-cm: applications, get, */*",
}


class ArgoCD:
    """An Argo CD server. Sends the token to this server alone, and follows no redirect."""

    def __init__(
        self,
        url: str,
        token: str,
        environment: Mapping[str, str],
        *,
        now: Callable[[], datetime],
        sleep: Callable[[float], None],
    ) -> None:
        self.url = url.rstrip("/")
        self._session = Session(environment)
        self._session.headers["Authorization"] = f"Bearer {token}"
        self._session.headers["User-Agent"] = f"kalypso-actions/{__version__}"
        self._now, self._sleep = now, sleep
        self.begin_look()

    def begin_look(self) -> None:
        """Ask the next questions again for `LONGEST_RETRY` from now on."""
        self._end = self._now() + LONGEST_RETRY

    def applications(self, selector: str = "") -> tuple[Mapping[str, Any], ...]:
        """Return the Applications that the token sees, without the fields that nothing reads.

        `selector` is a label selector of Kubernetes. Raise KalypsoError if there is no answer.
        """
        answer = self._get("v1/applications", {"selector": selector} if selector else {})
        return tuple(answer.get("items") or ())

    def cluster_names(self) -> Mapping[str, str] | None:
        """Return the name of each cluster by its server's URL; None if the token may not list them.

        Raise KalypsoError if there is no answer.
        """
        answer = self._get("v1/clusters", {}, refusals=(403,))
        if answer is None:
            return None
        return {
            (cluster.get("server") or "").rstrip("/"): cluster.get("name") or ""
            for cluster in answer.get("items") or ()
        }

    def sees_all_applications(self) -> bool:
        """Return whether the token may get the Applications of all projects.

        Raise KalypsoError if there is no answer.
        """
        return bool(self._get("v1/account/can-i/applications/get/*/*", {}).get("value") == "yes")

    def version(self) -> str:
        """Return the version of Argo CD, such as `v3.5.1+4b0aee3`; raise KalypsoError."""
        # Outside of /api/v1, and readable without a token.
        return str(self._get("version", {}).get("Version") or "")

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def _get(self, path: str, parameters: Mapping[str, str], refusals: tuple[int, ...] = ()) -> Any:
        """Return an answer; None for a status of `refusals`."""
        url = f"{self.url}/api/{path}"
        pause = 1.0
        while True:
            status, answer, wait = self._ask(url, parameters)
            if status == 200:
                return answer
            if status in refusals:
                return None
            pause = max(pause, wait)
            if status in PASSING | {0} and self._now() + timedelta(seconds=pause) < self._end:
                self._sleep(pause)
                pause *= 2
                continue
            raise self._refused(url, status, answer)

    def _ask(self, url: str, parameters: Mapping[str, str]) -> tuple[int, Any, float]:
        """Send one request; return the status, the answer, and how long to wait, in seconds.

        The answer is parsed for status 200, else a text. The status is 0 if there is no answer.
        """
        try:
            with self._session.get(
                url,
                params=dict(parameters),
                timeout=TIMEOUT,
                allow_redirects=False,
                stream=True,
            ) as response:
                parts = self._parts(url, response)
                if response.status_code == 200:
                    return 200, self._parsed(url, parts), 0.0
                text = next(parts, b"")[:500].decode("utf-8", "replace")
                if response.is_redirect:
                    text = f"it redirects to {response.headers['Location']}"
                after = response.headers.get("Retry-After", "")
                return response.status_code, text, float(after) if after.isdigit() else 0.0
        except requests.exceptions.SSLError as error:
            raise KalypsoError(
                f"the certificate of {self.url} is not trusted: {error}",
                Location(self.url),
                "name the file of your own certificates in REQUESTS_CA_BUNDLE",
            ) from error
        except (requests.RequestException, HTTPError) as error:
            return 0, _cause(error), 0.0

    def _parts(self, url: str, response: requests.Response) -> Iterator[bytes]:
        """Yield an answer as it comes. Raise KalypsoError if it is too large or too slow."""
        size, end = 0, self._now() + LONGEST_ANSWER
        # Unlike `iter_content`, `read1` does not wait until a part is full.
        while part := response.raw.read1(PART, decode_content=True):
            size += len(part)
            if size > LARGEST or self._now() > end:
                limit = f"{LARGEST >> 20} MiB"
                if size <= LARGEST:
                    limit = f"{LONGEST_ANSWER.total_seconds():.0f} s"
                raise KalypsoError(
                    f"{url} answers for more than {limit}",
                    Location(self.url),
                    "name fewer Applications by argocd-selector",
                )
            yield part

    def _parsed(self, url: str, parts: Iterator[bytes]) -> Any:
        reader = JsonReader(parts)
        try:
            return reader.read_object()
        except (ValueError, RecursionError):
            text = reader.beginning
            raise KalypsoError(
                f"{url} answers no JSON object: {text!r}",
                Location(self.url),
                "check that argocd-servers names the URL of Argo CD's API server, without a login "
                "page in front of it",
            ) from None

    def _refused(self, url: str, status: int, text: str) -> KalypsoError:
        try:
            said = json.loads(text)
            text = str(said.get("message") or said.get("error") or text)
        except (ValueError, AttributeError):
            pass
        answers = f"answers {status}" if status else "does not answer"
        advice = ADVICE.get(status, "check the server, and that the job may reach it")
        return KalypsoError(f"{url} {answers}: {text.strip()}", Location(self.url), advice)


def _cause(error: BaseException) -> str:
    """Return what a failed connection comes from: requests and urllib3 wrap it in their names."""
    while cause := error.__cause__ or error.__context__:
        error = cause
    return str(error) or type(error).__name__


class JsonReader:
    """Reads a JSON object from its parts; of a list in it, one item at a time.

    A list of 5,000 Applications is a text of 60 MB, which a single emoji would make one of 240 MB.
    `beginning` is that of the text.
    """

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._decode = getincrementaldecoder("utf-8")().decode
        self._text, self._at = "", 0
        self.beginning = ""

    def read_object(self) -> dict[str, Any]:
        """Return the object. Raises ValueError and RecursionError for another text."""
        content: dict[str, Any] = {}
        end = self._next("{")
        while end != "}":
            if not content and self._peek() == "}":
                end = self._next("}")
                continue
            if self._peek() != '"':
                raise ValueError("a key is missing")
            key = self._value()
            self._next(":")
            content[key] = self._list() if self._peek() == "[" else self._value()
            end = self._next(",}")
        if self._peek():
            raise ValueError("the text goes on after the object")
        return content

    def _list(self) -> list[Any]:
        items: list[Any] = []
        end = self._next("[")
        if self._peek() == "]":
            end = self._next("]")
        while end != "]":
            items.append(self._value())
            end = self._next(",]")
        return items

    def _next(self, expected: str) -> str:
        """Take a character that is not space; it must be an expected one."""
        character = self._peek()
        if not character or character not in expected:
            raise ValueError(f"{character!r} is none of {expected}")
        self._at += 1
        return character

    def _peek(self) -> str:
        """Return the next character that is not space; "" at the end."""
        while True:
            space = SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def _value(self) -> Any:
        self._peek()
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except ValueError:
                if not self._more():
                    raise
            else:
                length = end - self._at
                # A number may go on.
                if self._text[end : end + 1] in ENDS or not self._more():
                    self._at += length
                    return value

    def _more(self) -> bool:
        """Read at least as much again, so that a long value is not parsed too often."""
        texts = [self._text[self._at :]]
        wanted = max(len(texts[0]), PART)
        while wanted > 0 and (part := next(self._parts, b"")):
            texts.append(self._decode(part))
            wanted -= len(part)
        if wanted > 0:
            texts.append(self._decode(b"", final=True))
        is_longer = any(texts[1:])
        self._text, self._at = "".join(texts), 0
        self.beginning = self.beginning or self._text[:200]
        return is_longer


def _used(content: dict[str, Any]) -> dict[str, Any]:
    """Drop the fields of an object that nothing reads, while the text is parsed."""
    for key in UNUSED & content.keys():
        del content[key]
    resources = content.get("resources")
    if isinstance(resources, list):
        content["resources"] = [
            each for each in resources if isinstance(each, dict) and each.get("kind") == APPLICATION
        ]
    return content


DECODER: Final = json.JSONDecoder(object_hook=_used)
SPACE: Final = re.compile(r"[ \t\n\r]*")
ENDS: Final = frozenset(", ]}:\t\n\r")
"""The characters that may come after a value."""
