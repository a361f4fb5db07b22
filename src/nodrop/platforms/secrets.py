"""Secrets in configurations: whether a text is one that whoever reads it can use, or one that was made unreadable.

A secret itself is in no remark. Crypt prefixes: crypt(5) of libxcrypt; `$nvsec$` is how NVUE shows what it hides.
"""

import re
from typing import Literal

from nodrop.fabric.reading import Place, Remark

Exposure = Literal["clear", "scrambled"]

_SCRAMBLED = re.compile(r"\$(?:nvsec|[0-9][a-z]?|y|gy|md5|sha1|7|argon2[a-z]{1,2})\$")
_NOTHING = re.compile(r"[*!x#.]*|<[^>]*>|\[[^\]]*\]|\{\{.*\}\}|\$\{?[A-Za-z_][A-Za-z0-9_]*\}?|public")
"""A locked account, asterisks in place of what was taken out, a placeholder, or the community that all know."""

REVEALING = re.compile(r"password|passwd|secret|key|community|auth|md5|sha|cak", re.IGNORECASE)
"""Words of a line behind which a secret may stand."""

_KIND: dict[Exposure, str] = {"clear": "secret-in-configuration", "scrambled": "hashed-password-in-configuration"}


def exposure(text: str) -> Exposure | None:
    """Return how a text in the place of a secret exposes it; None where it is no secret."""
    if _NOTHING.fullmatch(text):
        return None
    return "scrambled" if _SCRAMBLED.match(text) else "clear"


def remark(device: str, place: Place | None, what: str, how: Exposure) -> Remark:
    """Return the remark of a secret: what it is and where, the line itself to be shown nowhere."""
    return Remark(kind=_KIND[how], subject=(device,), place=place, facts={"what": what}, secret=True)


_FRR = re.compile(r"^[ \t]*(?:(?:enable )?password|neighbor \S+ password|key-string) (?:(8) )?(\S+)", re.MULTILINE)


def of_frr(text: str) -> list[tuple[int, int, int, str, Exposure]]:
    """Return (line, first column, last column, what it is, how it is exposed) of the secrets of an FRR configuration.

    Columns are those of the secret's command up to the secret. `password 8` is what crypt(3) made of one.
    """
    found: list[tuple[int, int, int, str, Exposure]] = []
    if "password " not in text and "key-string " not in text:
        return found
    for one in _FRR.finditer(text):
        how = exposure(one[2])
        if how is not None:
            command = one[0].split()
            what = "the password of a BGP session" if command[0] == "neighbor" else "a password of the daemon"
            start = text.rfind("\n", 0, one.start(2)) + 1
            first = one.start() - start + len(one[0]) - len(one[0].lstrip()) + 1
            line = text.count("\n", 0, one.start(2)) + 1
            found.append((line, first, one.start(2) - start, what, "scrambled" if one[1] else how))
    return found
