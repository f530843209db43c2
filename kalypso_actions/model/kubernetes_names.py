"""Kubernetes' rules for names, label keys and label values.

Rules: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ and
https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
Each check returns "" or the fault, as a phrase that continues `"x" …`.
"""

from __future__ import annotations

import re
from functools import lru_cache

DATA_KEY = re.compile(r"(?!\.\Z|\.\.)[-._a-zA-Z0-9]{1,253}")
"""Matches a key of a ConfigMap or Secret: apimachinery/pkg/util/validation `IsConfigMapKey`."""
LABEL_LIMIT = 63
SUBDOMAIN_LIMIT = 253

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z")
_DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")
_QUALIFIED_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]\Z")


def dns_label_fault(text: str) -> str:
    """Check a DNS-1123 label, such as a namespace."""
    if len(text) > LABEL_LIMIT:
        return f"has {len(text)} characters, at most {LABEL_LIMIT} are allowed"
    if not _DNS_LABEL.match(text):
        return (
            "may hold lower-case letters, digits and '-' only, and must start and end with a "
            "letter or a digit"
        )
    return ""


def object_name_fault(text: str) -> str:
    """Check a DNS-1123 subdomain, such as `metadata.name` of Kalypso's kinds."""
    if len(text) > SUBDOMAIN_LIMIT:
        return f"has {len(text)} characters, at most {SUBDOMAIN_LIMIT} are allowed"
    if not _DNS_SUBDOMAIN.match(text):
        return (
            "may hold lower-case letters, digits, '-' and '.' only, and must start and end with a "
            "letter or a digit"
        )
    return ""


def label_key_fault(text: str) -> str:
    """Check a label's key: an optional DNS subdomain and '/', then a name."""
    is_short = len(text) <= SUBDOMAIN_LIMIT + 1 + LABEL_LIMIT
    return _short_key_fault(text) if is_short else _key_fault(text)


def _key_fault(text: str) -> str:
    prefix, slash, name = text.rpartition("/")
    if slash and object_name_fault(prefix):
        return f"has a prefix that {object_name_fault(prefix)}"
    if not name:
        return "has no name part"
    if len(name) > LABEL_LIMIT:
        return f"has a name part of {len(name)} characters, at most {LABEL_LIMIT} are allowed"
    if not _QUALIFIED_NAME.match(name):
        return (
            "may hold letters, digits, '-', '_' and '.' only, and must start and end with a letter "
            "or a digit"
        )
    return ""


_short_key_fault = lru_cache(maxsize=4096)(_key_fault)


def label_value_fault(text: str) -> str:
    """Check a label's value: empty or a name."""
    if len(text) > LABEL_LIMIT:
        return f"has {len(text)} characters, at most {LABEL_LIMIT} are allowed"
    return _short_value_fault(text)


@lru_cache(maxsize=4096)
def _short_value_fault(text: str) -> str:
    if text and not _QUALIFIED_NAME.match(text):
        return (
            "may hold letters, digits, '-', '_' and '.' only, and must start and end with a letter "
            "or a digit"
        )
    return ""
