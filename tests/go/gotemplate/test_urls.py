"""URLs as Go's net/url sees them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_go.gotemplate.urls import URLError, parse_url

BASE = "http://a/b/c/d;p?q"


@pytest.mark.parametrize(
    ("reference", "absolute"),
    [
        # RFC 3986, section 5.4
        ("g:h", "g:h"),
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("g;x=1/../y", "http://a/b/c/y"),
        ("http:g", "http:g"),
    ],
)
def test_resolve(reference: str, absolute: str) -> None:
    assert str(parse_url(BASE).resolve(parse_url(reference))) == absolute


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (":a", 'parse ":a": missing protocol scheme'),
        ("1:b", 'parse "1:b": first path segment in URL cannot contain colon'),
        ("http://a b/", 'parse "http://a b/": invalid character " " in host name'),
        ("http://a:b/", 'parse "http://a:b/": invalid port ":b" after host'),
        ("http://%41/", 'parse "http://%41/": invalid URL escape "%41"'),
        ("a%zz#b", 'parse "a%zz": invalid URL escape "%zz"'),
        ("a#%z", 'parse "a#%z": invalid URL escape "%z"'),
        ("http://[::1", "parse \"http://[::1\": missing ']' in host"),
        ("http://[1.2.3.4]/", 'parse "http://[1.2.3.4]/": invalid IP-literal'),
        (
            "http://[1:2]/",
            'parse "http://[1:2]/": invalid host: ParseAddr("1:2"): address string too short',
        ),
        (
            "http://[%251]/",
            'parse "http://[%251]/": invalid host: ParseAddr("%1"): missing IPv6 address',
        ),
        ("http://[::1%25%61%0a]/", 'parse "http://[::1%25%61%0a]/": invalid URL escape "%0a"'),
        ("a%aé", 'parse "a%aé": invalid URL escape "%a\\xc3"'),
        ("http://u<@a/", 'parse "http://u<@a/": net/url: invalid userinfo'),
        ("a\x7f", 'parse "a\\x7f": net/url: invalid control character in URL'),
    ],
)
def test_errors(text: str, error: str) -> None:
    with pytest.raises(URLError) as raised:
        parse_url(text)

    assert str(raised.value) == error


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("HTTP://%c3%a9:%70@h%c3%a9/a%2fb?#d%41", "http://%C3%A9:p@h%C3%A9/a%2fb?#d%41"),
        ("/a%2fb c#{%41", "/a/b%20c#%7BA"),
        ("http:/a", "http:/a"),
        ("file:///a", "file:///a"),
        ("http://[fe80::1%25e%6e0]:80", "http://[fe80::1%25en0]:80"),
        ("./a:b", "./a:b"),
        ("*", "*"),
        ("x:a b?c d", "x:a b?c d"),
    ],
)
def test_written_again(text: str, normal: str) -> None:
    assert str(parse_url(text)) == normal


@given(st.text() | st.text(alphabet="ah:/?#[]@%41.é \\"))
def test_what_is_a_url_has_a_normal_form(text: str) -> None:
    try:
        url = parse_url(text)
    except URLError:
        return
    normal = str(url)

    assert str(parse_url(normal)) == normal
