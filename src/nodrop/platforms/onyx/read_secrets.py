"""Secrets in a configuration of Onyx: each remarked where it stands, and none of them shown.

Source: NVIDIA Onyx User Manual 3.10.4606 LTS (SNMP, Remote Authentication, User Accounts, NTP, BGP).
"""

from collections.abc import Iterable, Iterator

from nodrop.model.reading import FilePlace, Remark
from nodrop.platforms.kit.secrets import SecretExposure, build_secret_remark, exposure_of_secret
from nodrop.platforms.onyx.commands import OnyxCommand

_SECRET_LABEL_BY_SERVER = {"tacacs-server": "the key of TACACS+", "radius-server": "the key of RADIUS"}
_ENCRYPTED_SECRET_TYPE = "7"  # noqa: S105 -- a type of secret, none itself
"""The number before a secret that the switch has encrypted or hashed; 0 is before one as it is typed."""


def find_secrets(device: str, commands: Iterable[OnyxCommand], file: str) -> Iterator[Remark]:
    """Yield a remark for every secret of a switch's commands."""
    for command in commands:
        if (secret := _find_secret(command.words)) is not None:
            yield build_secret_remark(device, FilePlace(file, command.span), *secret)


def _find_secret(line_words: tuple[str, ...]) -> tuple[str, SecretExposure] | None:
    """Return the secret of a command, and how it is exposed; None where there is none."""
    match line_words:
        case ("snmp-server", "community", name, *_):
            return _find_exposure("a community of SNMP", [name])
        case ("tacacs-server" | "radius-server" as server, *rest) if "key" in rest:
            return _find_exposure(_SECRET_LABEL_BY_SERVER[server], rest[rest.index("key") + 1 :])
        case ("ldap", "bind-password", *rest):
            return _find_exposure("the password for LDAP", rest)
        case ("username", _, "password", *rest):
            return _find_exposure("the password of a user", rest)
        case ("ntp", "authentication-key", _, _, *rest):
            return _find_exposure("a key of NTP", rest)
        case ("snmp-server", "user", _, *rest) if "auth" in rest or "priv" in rest:
            word = "auth" if "auth" in rest else "priv"
            return _find_exposure("a password of SNMP", rest[rest.index(word) + 2 :])
        case (*before, "authentication-key", secret) if before:
            return _find_exposure("a key of OSPF", [secret])
        case (_, *rest) if "message-digest-key" in rest:
            return _find_exposure("a key of OSPF", rest[rest.index("message-digest-key") + 3 :])
        case ("router", "bgp", *rest) if "neighbor" in rest and "password" in rest:
            return _find_exposure("the password of a BGP session", rest[rest.index("password") + 1 :])
    return None


def _find_exposure(secret_kind: str, arguments: list[str]) -> tuple[str, SecretExposure] | None:
    kind, *secret = arguments if arguments[:1] in (["0"], [_ENCRYPTED_SECRET_TYPE]) else ["0", *arguments]
    how = exposure_of_secret(secret[0]) if secret else None
    return None if how is None else (secret_kind, "scrambled" if kind == _ENCRYPTED_SECRET_TYPE else how)
