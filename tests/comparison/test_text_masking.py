"""No secret stays in a text, in any of the forms that the guide names."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from kalypso_actions.comparison import text_masking
from kalypso_actions.comparison.masked_keys import MASKED_KEYS, SHOWN_KEYS, KeyNames
from kalypso_actions.comparison.text_masking import (
    mask_line,
    mask_text,
)
from kalypso_go.goyaml import dump_v3

NAMES = KeyNames()
KEYS = ["DB_PASS", "SMTP_PW", "AWS_CREDS", "BASIC_AUTH", "GITHUB_PAT", "sig"]
SECRET = 'LEAK"uo\\te & more\nand a second line\n'
TOKEN_FORMS = [
    *("sk-", "sk_live_", "AIza", "npm_", "github_pat_", "glpat-"),
    *(f"gh{kind}_" for kind in "pousr"),
    *(f"xox{kind}-" for kind in "abprs"),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password: hunter2\nport: 80\n", "password: ***\nport: 80\n"),
        ("  DB_PASSWORD: 'a: b'  # c\n", "  DB_PASSWORD: ***\n"),
        ("- apiToken: x\n  name: y\n", "- apiToken: ***\n  name: y\n"),
        ("key: |\n  one\n\n  two\nnext: 1\n", "key: ***\nnext: 1\n"),
        ("secret:\n  a: 1\n  b: {c: d}\nnext: 1\n", "secret: ***\nnext: 1\n"),
        ("tokens:\n- a\n- b\nnext: 1\n", "tokens: ***\nnext: 1\n"),
        ('password: "one\n  two"\nnext: 1\n', "password: ***\nnext: 1\n"),
        ('export API_KEY="a b"\nexport PORT="1"\n', 'export API_KEY=***\nexport PORT="1"\n'),
        ('export KEY="one\ntwo"\nexport P="1"\n', 'export KEY=***\nexport P="1"\n'),
        ('{\n  "token": "x",\n  "a": 1\n}\n', '{\n  "token": ***,\n  "a": 1\n}\n'),
        ('a: \'{"password": "x", "b": 1}\'\n', 'a: \'{"password": ***, "b": 1}\'\n'),
        ("url: Server=s;Password=x;Port=1\n", "url: Server=s;Password=***;Port=1\n"),
        ("args: run --password x --port 1\n", "args: run --password *** --port 1\n"),
        (
            "- name: DB_PASSWORD\n  value: x\n- name: A\n",
            "- name: DB_PASSWORD\n  value: ***\n- name: A\n",
        ),
        (
            "- value: x\n  name: MY_TOKEN\n- value: y\n",
            "- value: ***\n  name: MY_TOKEN\n- value: y\n",
        ),
        ("- name: PORT\n  value: x\n", "- name: PORT\n  value: x\n"),
        (
            "kind: Secret\ndata:\n  a: eA==\n---\nkind: ConfigMap\ndata:\n  a: b\n",
            "kind: Secret\ndata: ***\n---\nkind: ConfigMap\ndata:\n  a: b\n",
        ),
        ("url: postgres://user:pw@host/db\n", "url: postgres://***@host/db\n"),
        ("h: Bearer abcdefgh.ijk\n", "h: Bearer ***\n"),
        ("h: Basic abcdefgh=\n", "h: Basic ***\n"),
        ("a: ghp_abcdefghijklmnop\n", "a: ***\n"),
        (f"a: AKIA{'A1' * 8}\n", "a: ***\n"),
        ("a: eyJh.eyJp.sig-n\n", "a: ***\n"),
        (
            "c: |\n  -----BEGIN RSA PRIVATE KEY-----\n  abc\n  -----END RSA PRIVATE KEY-----\n",
            "c: |\n  -----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----\n",
        ),
        ('a: "b: c\\nauth: x"\n', 'a: "b: c\\nauth: ***\n'),
        ("<db><password a='b'>x y</password></db>", "<db><password a='b'>***</password></db>"),
        ('<add key="DbPassword" value="x y"/>', "<add key=*** value=***/>"),
        (
            'a: "name: TOKEN\\nvalue:\\n  b:\\\n  \\ x\\n"\nn: 1\n',
            'a: "name: TOKEN\\nvalue:***\nn: 1\n',
        ),
        ("password = x\n[a]\n", "password = ***\n[a]\n"),
        ("f: 'password:\n\n    - x\n\n    '\nn: 1\n", "f: 'password:\nn: 1\n"),
        ("# password: a b\n", "# password: ***\n"),
        ("port: 80\nname: monitor\n", "port: 80\nname: monitor\n"),
        ("e: [{value: LEAK, name: DB_PASSWORD}]\n", "e: [{value: ***, name: DB_PASSWORD}]\n"),
        ('{"value": "LE,AK", "name": "TOKEN"}\n', '{"value": ***, "name": "TOKEN"}\n'),
        ('[{"value": "a", "name": "b"}, {"name": "TOKEN"}]\n', None),
        ('args: ["--password", "LEAK", "-v"]\n', 'args: ["--password", ***, "-v"]\n'),
        ('a:\n- "--password"\n- LEAK\n- -v\n', 'a:\n- "--password"\n- ***\n- -v\n'),
        ("a:\n- --use-token\n- --port\n", None),
        ('{"kind":"Secret","data":{"a":"LEAK"}}\n', '{"kind":"Secret","data":***\n'),
        ('kind: "Secret" # x\ndata: {a: LEAK}\n', 'kind: "Secret" # x\ndata: ***\n'),
        ("kind: SecretStore\ndata: x\n", None),
        ("<password>LEAK</password>\n", "<password>***</password>\n"),
        ("password = <<EOT\nLEAK\nEOT\nport = 1\n", "password = ***\nport = 1\n"),
        *((f"a: 1\n{key}: LEAK\n", f"a: 1\n{key}: ***\n") for key in KEYS),
        ("u: https://s.test/c?sv=2&sig=a%2Bb&x=1\n", "u: https://s.test/c?sv=2&sig=***&x=1\n"),
        ("u: hooks.slack.com/services/T0/B0/abc\n", "u: hooks.slack.com/services/***\n"),
        *((f"a: {form}abcdefghijklmnopqrstu-v\n", "a: ***\n") for form in TOKEN_FORMS),
    ],
)
def test_values_below_secret_keys(text: str, expected: str | None) -> None:
    """Check a masked text; without an expected text, the text must stay unchanged."""
    assert mask_text(text, NAMES) == (text if expected is None else expected)


@pytest.mark.parametrize(
    "text",
    [
        "- key: env\n  operator: In\n  values: [dev]\n",
        "- {key: env, operator: In, values: [dev]}\n",
        "matchExpressions: [{key: env, operator: Exists}]\n",
        '{\n  "key": "env",\n  "operator": "Exists"\n}\n',
        'a: "- key: env\\n  operator: In\\n"\n',
        "secretName: tls\ntlsSecretName: tls\nkeyspace: shop\ntopologyKey: zone\n",
        "secretRef:\n  name: db\n",
        "certSecretRef: {name: ca}\n",
        "imagePullSecrets:\n- name: registry\n",
        "secretKeyRef:\n  name: db\n  key: password\n",
        "env:\n- name: A\n  valueFrom:\n    secretKeyRef:\n      key: password\n      name: db\n",
        "valueFrom: {secretKeyRef: {name: db, key: password}}\n",
        '{"secretKeyRef": {"name": "db", "key": "password"}}\n',
        "configMapKeyRef:\n  name: c\n  optional: true\n  key: region\n",
        "KEYCLOAK_URL: https://login.test/realms/a\n",
        "keyVaultName: shop-vault\n",
        "export KEY_VAULT_URI=https://shop.vault.test\n",
        "automountServiceAccountToken: false\n",
        "valuesFrom:\n- kind: Secret\n  name: a\n  valuesKey: values.yaml\n",
        "volumes:\n- name: v\n  secret:\n    secretName: tls\n    defaultMode: 420\n",
        "sources:\n- secret: {name: tls}\n- serviceAccountToken:\n    path: token\n    audience: vault\n",
        "passwordSecret:\n  name: db\nnext: 1\n",
        "TOKEN_URL: https://login.test/token\nAPI_KEY_HEADER: X-Api-Key\nPASSWORD_MIN_LENGTH: 12\n",
        "DB_PASSWORD_FILE: /run/secrets/db\nPUBLIC_KEY_PATH: /etc/a.pem\nkeyAlgorithm: RSA\nSECRET_STORE: a\n",
        "partitionKey: tenant\nsortKey: created\nhotkey: ctrl-p\nTOKEN_EXPIRY: 12h\n",
    ],
)
def test_keys_of_names_are_no_secrets(text: str) -> None:
    assert mask_text(text, NAMES) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("KEYCLOAK_PASSWORD: hunter22\n", "KEYCLOAK_PASSWORD: ***\n"),
        ("keycloak:\n  clientSecret: hunter22\n", "keycloak:\n  clientSecret: ***\n"),
        ("KEY_VAULT_KEY=hunter22\n", "KEY_VAULT_KEY=***\n"),
        ("secretRef:\n  name: a\n  password: hunter22\n", "secretRef:\n  name: a\n  password: ***\n"),
        ("secretKeyRef:\n  name: a\nkey: hunter22\n", "secretKeyRef:\n  name: a\nkey: ***\n"),
        ("a: {secretKeyRef: {name: b}, key: hunter22}\n", "a: {secretKeyRef: {name: b}, key: ***}\n"),
        ("secret:\n  name: a\n  key: hunter22\n", "secret:\n  name: a\n  key: ***\n"),
        ("secret:\n  name: a\n  text: hunter22\nb: 1\n", "secret: ***\nb: 1\n"),
        ("secret:\n  name: a\n  hunter22\nb: 1\n", "secret: ***\nb: 1\n"),
        ("secret: {name: a, text: hunter22}\n", "secret: ***\n"),
        ('secret: {name: a, "text": hunter22}\n', "secret: ***\n"),
        ("secret: {name: a, hunter22}\n", "secret: ***\n"),
        ('a: {secret: {name: a, "text": hunter22}}\n', "a: {secret: ***\n"),
        ("secret:\n  key: hunter22\n", "secret: ***\n"),
        ("TOKEN: hunter22\nPRIMARY_KEY: hunter22\n", "TOKEN: ***\nPRIMARY_KEY: ***\n"),
        ("keyRef:\n  value: a\n  key: hunter22\n", "keyRef:\n  value: a\n  key: ***\n"),
    ],
)  # fmt: skip
def test_names_hide_no_secret_beside_them(text: str, expected: str) -> None:
    assert mask_text(text, NAMES) == expected


def test_more_key_names() -> None:
    assert mask_text("pin: 1234\n", KeyNames(["PIN"])) == "pin: ***\n"
    assert mask_text("my-pin-code: 1234\n", KeyNames(["*PIN*"])) == "my-pin-code: ***\n"
    assert mask_text("secretName: tls\n", KeyNames(["secretName"])) == "secretName: ***\n"
    assert mask_text("a: {secret: {name: b}}\n", KeyNames(["secret"])) == "a: {secret: ***\n"
    assert mask_text("secret:\n  name: b\n", KeyNames(["secret"])) == "secret: ***\n"


def test_a_sentence() -> None:
    text = "web on large: fail: wrong password=abc for hunter22 at https://u:p@host"
    assert (
        mask_line(text, NAMES, ["hunter22"])
        == "web on large: fail: wrong password=*** for *** at https://***@host"
    )


@pytest.mark.parametrize(
    "text",
    [
        "registration 'keycloak': its repository cannot be read",
        "Template 'monkey': line 3 is too long",
        "ConfigMap 'a-secret': a value must be a text, but it is the number 5",
        "web on key-vault: the namespace is too long",
    ],
)
def test_the_name_in_a_sentence_is_no_key(text: str) -> None:
    assert mask_line(text, NAMES) == text


def test_keys_after_the_name_in_a_sentence() -> None:
    text = "Template 'key': {'password': 'x'}, token: y"
    assert mask_line(text, NAMES) == "Template 'key': {'password': ***}, token: ***"


words = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF), min_size=2, max_size=12)
secrets = words.map(lambda text: f"Zq{text}qZ")
keys = st.sampled_from(["password", "API_TOKEN", "client-secret", "db.key"])


@st.composite
def documents(draw: st.DrawFn) -> tuple[object, str]:
    """A document with a secret below a key, at any depth."""
    secret = draw(secrets)
    value: object = draw(st.sampled_from([secret, [secret], {"a": secret}, f"one\n{secret}\ntwo"]))
    key = draw(keys)
    document: object = draw(
        st.sampled_from(
            [{key: value, "z": "end"}, {"a": "b", key: value}, {"name": key, "value": value}]
        )
    )
    for _ in range(draw(st.integers(0, 3))):
        document = draw(
            st.sampled_from([{"a": document, "z": 1}, [document], [1, document, "end"]])
        )
    return document, secret


@example(({"password": "Zq: qZ", "z": "end"}, "Zq: qZ"))  # its quotes are doubled in another text
@example(({"password": " Zq: qZ", "z": "end"}, "Zq: qZ"))
@example(({"password": "Zq: it's qZ", "z": "end"}, "Zq: it's qZ"))
@given(documents())
def test_no_secret_in_yaml_or_json(made: tuple[object, str]) -> None:
    document, secret = made
    texts = [
        yaml.safe_dump(document, allow_unicode=True),
        yaml.safe_dump(document, default_flow_style=True, allow_unicode=True),
        yaml.safe_dump({"kind": "ConfigMap", "data": {"file": yaml.safe_dump(document)}}),
        json.dumps(document, ensure_ascii=False),
        json.dumps(document, indent=2, ensure_ascii=False),
        dump_v3(document),
    ]
    for text in texts:
        masked = mask_text(text, NAMES)
        for part in (secret, json.dumps(secret)[1:-1], secret.replace("'", "''")):
            assert part not in masked, text


@given(secrets)
def test_no_known_secret_anywhere(secret: str) -> None:
    known = NAMES.secrets_of({"password": secret})
    encoded = base64.b64encode(secret.encode()).decode()
    text = f"a: {secret}\nb: x{encoded}\nc: http://host/{quote(secret, safe='')}/\n"
    masked = mask_text(text, NAMES, known)
    assert secret.strip() not in masked
    assert encoded not in masked


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"a": SECRET}),
        json.dumps({"a": SECRET}).replace("&", "\\u0026"),
        base64.b64encode(SECRET.encode()).decode(),
        base64.b64encode(f"joe:{SECRET}".encode()).decode(),
        base64.b64encode(f"joe:{SECRET}".encode()).decode().rstrip("="),
    ],
)
def test_encoded_secrets(text: str) -> None:
    known = NAMES.secrets_of({"password": SECRET})
    assert "***" in mask_text(f"a: {text}\n", NAMES, known)
    assert text.strip("{}") not in mask_text(f"a: {text}\n", NAMES, known)
    assert "***" in mask_line(f"wrong {text}", NAMES, known)


PARTS = [
    *("password", "pass word", "-p", "--token", "key", "name", "value", "kind", "Secret", "data"),
    *("a", "b.c", "nopassworx", "path", "sig", "sigh", "x:y", "operator", "é", "my pat", "ns:pat"),
    *(":", ": ", "=", "<", ">", "{", "}", "[", "]", ",", " ", "\t", "- ", "#", "|", "export "),
    *("://u:p@host/", "Bearer ", "Basic ", "abcdefgh", "ghp_0123456789", "eyJa.b.c"),
    *('"', "'", "\\", "\\n", "\n", "\n  ", "\r\n", "\n---\n", "\x85", "\u2028", "z" * 210),
]


@pytest.mark.parametrize("names", [NAMES, KeyNames(["b.c", "x"])])
@given(parts=st.lists(st.sampled_from(PARTS), max_size=25))
def test_a_text_that_seems_to_have_no_secret_has_none(names: KeyNames, parts: list[str]) -> None:
    """Masking leaves out such texts, so that it takes less time."""
    text = "".join(parts)
    documents = re.split(r"(?m)^(---.*\n?)", text)
    complete = "".join(text_masking._document(each, names) for each in documents)
    complete = text_masking._without_credentials(complete)
    if not text_masking._may_have_secret(text, names):
        assert complete == text
    assert mask_text(text, names) == complete


def test_ordinary_texts_have_no_secret() -> None:
    text = "kind: ConfigMap\nmetadata:\n  name: a\ndata:\n  FILE: |\n    path: ./keyspace\n"
    assert not text_masking._may_have_secret(text, NAMES)
    assert text_masking._may_have_secret(f"{text}  DB_PASS: x\n", NAMES)


def test_the_guide_publishes_the_names_of_secret_keys() -> None:
    page = Path(__file__).parents[2] / "docs" / "guide" / "preview.md"
    section = page.read_text(encoding="utf-8").partition("### Secret keys")[2]
    listed, _, rest = " ".join(section.split()).partition("These values are")
    assert re.findall(r"`([*a-z]{3,})`", listed) == [*MASKED_KEYS]
    shown = rest.partition("and of `key`")[0]
    assert sorted(re.findall(r"`([*a-z]{3,})`", shown)) == sorted(SHOWN_KEYS)
