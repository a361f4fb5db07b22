"""Secrets in configurations: whether any reader of a text can use it, or it was made unreadable.

A secret itself is in no remark. Crypt prefixes: crypt(5) of libxcrypt; `$nvsec$` is how NVUE shows hidden values.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from nodrop.model.reading import FilePlace, Remark
from nodrop.platforms.kit.near_words import differs_in_letters

SecretExposure = Literal["clear", "scrambled"]

_HASHED_SECRET_PATTERN = re.compile(r"\$(?:nvsec|[0-9][a-z]?|y|gy|md5|sha1|7|argon2[a-z]{1,2})\$")
_PLACEHOLDER_FOR_SECRET_PATTERN = re.compile(
    r"[*!x#.]*|<[^>]*>|\[[^\]]*\]|\{\{.*\}\}|\$\{?[A-Za-z_][A-Za-z0-9_]*\}?|public"
)
"""A locked account, asterisks in place of a removed text, a placeholder, or the community that all know."""

SHIPPED_SECRETS_BY_KIND: Mapping[str, frozenset[str]] = {"a password of the daemon": frozenset({"zebra"})}
"""Constants that network OSes ship in the place of a secret, which open nothing from outside, by kind of secret.

SONiC writes `password zebra` into every daemon's file (sonic-buildimage dockers/docker-fpm-frr/frr/common/
daemons.common.conf.j2); the vty that it is for listens on 127.0.0.1 (frr/supervisord/supervisord.conf.j2, `-A`).
"""

_SECRET_LIKE_PATTERN = re.compile(
    r"pas{1,2}(?:w|ow|phr|key|code)|secret|key-string|auth(?:entication)?[-_]key|md5[-_]key|private[-_ ]key|"
    r"shared[-_]key|[-_]cak|psk|snmp[^\n]{0,80}communit|(?:readonly|readwrite|community)[-_]communit|communit[a-z]*[-_]pass|"
    r"\"communit[a-z]*\"",
    re.IGNORECASE,
)
"""A key or word that looks like one of a secret, typing errors included: the text after it is never quoted."""

_MAX_SLIPS_BY_SECRET_WORD = {
    "password": 2,
    "passphrase": 2,
    "passwd": 1,
    "passkey": 1,
    "passcode": 1,
    "secret": 1,
    "authkey": 1,
    "community": 2,
}
"""Words of secrets, and by how many letters a word may differ from each and be a slip of it."""
_COMMUNITY_WORD = "community"
"""A secret of SNMP alone: BGP's communities are none."""
_SNMP_PATTERN = re.compile(r"snmp|[\"']$", re.IGNORECASE)
"""What stands before a community of SNMP: its protocol, or the quote that begins a key."""
_LONG_WORD_PATTERN = re.compile(r"[A-Za-z]{5,14}")

SECRET_WORDS_PATTERN = re.compile(r"password|passwd|secret|key|community|auth|md5|sha|cak", re.IGNORECASE)
"""Words of a line behind which a secret may stand."""

_REMARK_KIND_BY_EXPOSURE: dict[SecretExposure, str] = {
    "clear": "secret-in-configuration",
    "scrambled": "hashed-password-in-configuration",
}


def exposure_of_secret(text: str) -> SecretExposure | None:
    """Return how a text in the place of a secret exposes it; None where it is no secret."""
    if _PLACEHOLDER_FOR_SECRET_PATTERN.fullmatch(text):
        return None
    return "scrambled" if _HASHED_SECRET_PATTERN.match(text) else "clear"


def build_secret_remark(device: str, place: FilePlace | None, what: str, how: SecretExposure) -> Remark:
    """Return the remark of a secret: its kind and where; the line itself must not be shown."""
    return Remark(kind=_REMARK_KIND_BY_EXPOSURE[how], subject=(device,), place=place, facts={"what": what}, secret=True)


LocatedSecret = tuple[int, int, int, str, SecretExposure]
"""Line, first column, last column, what a secret is, how it is exposed. The columns are those of its command."""

_BGP_PASSWORD_LABEL = "the password of a BGP session"  # noqa: S105 -- a label
_OSPF, _ISIS = "a key of OSPF", "a password of IS-IS"
_FRR_SECRET_COMMANDS = (
    (r"(?:enable )?password(?: 8)?", "a password of the daemon"),
    (r"username \S+ password(?: 8)?", "the password of a user"),
    (r"neighbor \S+ password", _BGP_PASSWORD_LABEL),
    (r"(?:ip )?msdp peer \S+ password", "the password of an MSDP session"),
    (r"key-string", "a key of a key chain"),
    (r"(?:ip )?ospf (?:authentication-key|message-digest-key \d+ md5)", _OSPF),
    (r"area \S+ virtual-link \S+ (?:\S+ )*?(?:authentication-key|message-digest-key \d+ md5)", _OSPF),
    (r"ipv6 ospf6 authentication key-id \d+ hash-algo \S+ key", _OSPF),
    (r"(?:isis password|area-password|domain-password) (?:clear|md5)", _ISIS),
    (r"ip rip authentication string", "a password of RIP"),
    (r"ip nhrp authentication", "a password of NHRP"),
    (r"tcp-md5-auth", "the password of a PCEP session"),
)
"""FRR's commands with secrets (bgpd/bgp_vty.c, ldpd/ldp_vty.h, lib/keychain_cli.c, lib/command.c, ospfd/ospf_vty.c,
ospf6d/ospf6_auth_trailer.c, isisd/isis_cli.c, ripd/rip_cli.c, nhrpd/nhrp_vty.c, pimd/pim_cmd.c, pathd/path_pcep_cli.c).

`rpki cache` names the file of a key, and no secret.
"""
_FRR_SECRET_COMMANDS_REGEX = "|".join(f"(?P<c{at}>{command})" for at, (command, _) in enumerate(_FRR_SECRET_COMMANDS))
_BLANKS_REGEX = r"[ \t]++"
_FRR_SECRET_COMMANDS_REGEX = _FRR_SECRET_COMMANDS_REGEX.replace(" ", _BLANKS_REGEX)
_FRR_SECRET_LINE = re.compile(
    rf"^[ \t]*+(?:[!#]+[ \t]*+)?(?:no{_BLANKS_REGEX})?(?:{_FRR_SECRET_COMMANDS_REGEX}){_BLANKS_REGEX}(?P<secret>\S+)",
    re.MULTILINE,
)
_SEPARATOR_PATTERN = re.compile(r"[\s=:]")
_FRR_SECRET_PREFILTER_WORDS = ("password", "key-string", "-key", "authentication", "md5")
"""A part of every text in which the pattern finds something."""

_ANY_SYSTEM_SECRET_PATTERN = re.compile(
    r"(?<![\w-])(?P<word>password|passwd|passphrase|passkey|bind-password|community-password|secret|shared-secret|"
    r"key-string|authentication-key|md5|auth-md5|auth-sha|encrypt-aes|encrypt-des|tcp-md5-auth|readonly-community-v6|"
    r"readonly-community|snmp-server[ \t]+community|authentication[ \t]+string|nhrp[ \t]+authentication|"
    r"hash-algo[ \t]+\S+[ \t]+key|server[ \t]+(?:\S+[ \t]+){0,12}?key)"
    r"(?:[ \t]*=[ \t]*|[ \t]+)(?:(?P<hashed>[78])[ \t]+|(?:0|clear|md5)[ \t]+)?(?P<secret>\S+)",
    re.IGNORECASE,
)
"""A secret in a command of any system, behind the word that says so."""
_SERVICE_WITH_SECRETS_PATTERN = re.compile(
    r"(?<![\w-])(?:radius|tacacs|ldap|snmp)[\w-]*(?:[ \t]+[^\s]+)+?[ \t]+(?P<last>[^\s]+)[ \t]*$", re.IGNORECASE
)
"""A command to a service with secrets whose keyword may be misspelled: its last word may be one."""
_FREE_TEXT_PATTERN = re.compile(r"(?<![\w-])(?:alias|description|remark)[ \t]")
_NCLU_SECRET_LABELS: tuple[tuple[str, str], ...] = (
    (" bgp ", _BGP_PASSWORD_LABEL),
    ("community", "a community of SNMP"),
    (" snmp", "a password of SNMP"),
    ("radius", "the key of RADIUS"),
    ("tacacs", "the key of TACACS+"),
    (" ospf", _OSPF),
    (" neighbor ", _BGP_PASSWORD_LABEL),
    ("", "a password of the daemon"),
)
"""What a secret is in a command in which a text stands."""


def find_frr_secrets(text: str) -> list[LocatedSecret]:
    """Return the secrets of an FRR configuration, comments included. `password 8` is what crypt(3) made of one."""
    secrets: list[LocatedSecret] = []
    if not any(word in text for word in _FRR_SECRET_PREFILTER_WORDS):
        return secrets
    line, counted = 1, 0
    for match in _FRR_SECRET_LINE.finditer(text):
        line, counted = line + text.count("\n", counted, match.start("secret")), match.start("secret")
        how = exposure_of_secret(match["secret"])
        at = next(at for at in range(len(_FRR_SECRET_COMMANDS)) if match[f"c{at}"] is not None)
        if how is not None and match["secret"] not in SHIPPED_SECRETS_BY_KIND.get(_FRR_SECRET_COMMANDS[at][1], ()):
            hashed = match[f"c{at}"].split()[-1] == "8"
            start = text.rfind("\n", 0, match.start("secret")) + 1
            column = match.start() - start + len(match[0]) - len(match[0].lstrip()) + 1
            secret_kind = _FRR_SECRET_COMMANDS[at][1]
            secrets.append((line, column, match.start("secret") - start, secret_kind, "scrambled" if hashed else how))
    return secrets


def find_nclu_secrets(text: str) -> list[LocatedSecret]:
    """Return the secrets of a list of NCLU's commands, of those that are misspelt too."""
    secrets: list[LocatedSecret] = []
    if not any(word in text for word in ("password", "secret", "community", "md5", "auth-", "-key", "encrypt-")):
        return secrets
    for number, line in enumerate(text.split("\n"), 1):
        match = _match_secret(line)
        how = exposure_of_secret(match["secret"].strip("'\"")) if match else None
        if match is not None and how is not None:
            label = next(kind for word, kind in _NCLU_SECRET_LABELS if word in f" {line} ")
            column = len(line) - len(line.lstrip()) + 1
            secrets.append((number, column, match.start("secret"), label, "scrambled" if match["hashed"] else how))
    return secrets


def mask_secret(line: str) -> str:
    """Return a command up to its secret, to be quoted.

    Where a word only looks like one of a secret, nothing behind that word is left.
    """
    match = _match_secret(line)
    if match is not None:
        return f"{line[: match.start('secret')]}…"
    end = _end_of_secret_like_word(line)
    blank = _SEPARATOR_PATTERN.search(line, end) if end is not None else None
    if blank is None and (match := _SERVICE_WITH_SECRETS_PATTERN.search(line)) is not None:
        return f"{line[: match.start('last')]}…"
    return line if blank is None else f"{line[: blank.start()]} …"


def looks_like_secret(text: str) -> bool:
    """Whether a line, a key or a word looks like a secret's; then neither it nor its value may be quoted."""
    return _end_of_secret_like_word(text) is not None


def _end_of_secret_like_word(text: str) -> int | None:
    """Return where the first word ends that looks like one of a secret; None where none does."""
    like = _SECRET_LIKE_PATTERN.search(text)
    limit = len(text) if like is None else like.start()
    for match in _LONG_WORD_PATTERN.finditer(text, 0, limit):
        word = _secret_word_meant_by_typo(match[0].casefold())
        if word is not None and (word != _COMMUNITY_WORD or _SNMP_PATTERN.search(text, 0, match.start())):
            return match.end()
    return None if like is None else like.end()


@lru_cache(maxsize=4096)
def _secret_word_meant_by_typo(word: str) -> str | None:
    """Return the word of a secret that a word is a slip of, or is; None where it is another word."""
    return next(
        (secret for secret, slips in _MAX_SLIPS_BY_SECRET_WORD.items() if differs_in_letters(word, secret, slips)),
        None,
    )


def _match_secret(line: str) -> re.Match[str] | None:
    match = _ANY_SYSTEM_SECRET_PATTERN.search(line)
    return None if match is None or _FREE_TEXT_PATTERN.search(line, 0, match.start()) else match
