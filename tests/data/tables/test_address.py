"""Addresses: every part is found whatever the password holds, and no password is shown, written or repeated."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from epsilens.data.tables.address import address_of, masked, without_password
from epsilens.data.tables.sources import Url
from epsilens.errors import InputError

HOSTILE = ["hush", "p@ss/w#rd:é%", "a?b&c=d", "@", "1234/abc", "x y\tz", "50%25", "://u:v@", "#table", "pass'\"word"]


@pytest.mark.parametrize("password", HOSTILE)
@pytest.mark.parametrize("encoded", [True, False])
@pytest.mark.parametrize("rest", ["host:5432/db#clinic.visits", "host/db", "[::1]:5/db#t", 'h/db?sslmode=x#"a.b"'])
def test_every_part_is_found(password: str, encoded: bool, rest: str) -> None:
    written = quote(password, safe="") if encoded else password
    url = f"postgres://me:{written}@{rest}"
    filled = address_of(url).filled
    assert filled.user == "me"
    if encoded or "%" not in password[:-1]:  # unencoded, %25 means %
        assert filled.password == password
    assert f"{filled.host}" == rest.partition("/")[0].rpartition(":5")[0] or filled.host == rest.partition("/")[0]
    assert filled.table == rest.partition("#")[2]
    kept = without_password(url)
    assert kept == f"postgres://me@{rest}"
    assert without_password(kept) == kept
    for shown in (masked(url), masked(f"it says {url}"), repr(address_of(url)), repr(Url(url)), Url(url).masked):
        assert written not in shown or len(written) == 1
        assert "me:" not in shown


def test_settings_that_are_secrets() -> None:
    url = "postgres://me@h/db?sslmode=require&sslpassword=hush&password=p%40&access_token=hush&sslkey=/k.pem#t"
    assert without_password(url) == "postgres://me@h/db?sslmode=require&sslkey=/k.pem#t"
    assert masked(url) == "postgres://…@h/db?…#t"
    assert "hush" not in masked("connection to host=h password=hush failed")
    assert without_password("postgres://h/db?password=${PW}#t") == "postgres://h/db?password=${PW}#t"


def test_parts_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLINIC_PW", "p%40:/@#")
    monkeypatch.setenv("CLINIC_HOST", "db.example")
    monkeypatch.delenv("NOBODY", raising=False)
    url = "postgres://me:${CLINIC_PW}@${CLINIC_HOST}/db#t"
    filled = address_of(url).filled
    assert (filled.password, filled.host) == ("p%40:/@#", "db.example")  # as it stands: nobody encodes a variable
    assert without_password(url) == url
    with pytest.raises(InputError, match="no NOBODY") as error:
        _ = address_of("postgres://me:${NOBODY}@h/db#t").filled
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["people.csv", "epsilens:adult", "duckdb://a@b/x.db#t", "sqlite:///x.db", "visits"])
def test_what_has_no_password_stays(text: str) -> None:
    assert without_password(text) == text


def test_what_libraries_read_is_encoded() -> None:
    made = address_of("mysql://me:p@ss/w#rd@host:3306/db?charset=utf8#t").filled.encoded
    assert made == "mysql://me:p%40ss%2Fw%23rd@host:3306/db?charset=utf8"
