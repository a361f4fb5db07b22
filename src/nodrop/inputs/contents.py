"""The kind of a file that no reader takes: recognised by its name and its first bytes, so reports can name it."""

import json
import re
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable
from typing import NamedTuple

NOT_READ_NOTE_KIND = "not-read"
"""The kind of the note about a file that nothing reads."""
DEVICE_NOT_READ_NOTE_KIND = "device-not-read"
"""The kind of such a note where the file is all that there is of a device: exit 3."""
MAYBE_TRUNCATED_NOTE_KIND = "cut-short"
"""The kind of such a note where the end of a file may be missing."""
UNREAD_NOTE_KINDS = (NOT_READ_NOTE_KIND, DEVICE_NOT_READ_NOTE_KIND, MAYBE_TRUNCATED_NOTE_KIND)


class UnreadFileReason(NamedTuple):
    """Why a file is not read, and whether it is, or may be, the configuration of a switch."""

    reason: str
    is_device: bool = False
    is_known: bool = False
    """Whether it is recognised as something that nodrop does not read."""
    hint: str = ""
    """How a file that is named is read in spite of that."""


_PLATFORM_HINT = "--platform reads it as that platform's"


_TEMPLATE_SUFFIXES = (".j2", ".jinja", ".jinja2", ".tmpl", ".tpl", ".template", ".erb", ".mustache", ".in")
_BACKUP_NAME_PATTERN = re.compile(
    r"(?:~|\.(?:bak|orig|old|save|backup|rej|rpmsave|rpmnew|dpkg-old|dpkg-dist|disabled))\Z"
)
_NUMBERED_COPY_PATTERN = re.compile(r"\.[A-Za-z]+\.[0-9]{1,4}\Z")
_TEMPLATE_TAG_PATTERN = re.compile(rb"\{%-?[ \t]|\{\{-?[ \t]*[A-Za-z_.]")
_GZIP_MAGIC = b"\x1f\x8b"
_ARCHIVE_MAGICS = (b"PK\x03\x04", b"\xfd7zXZ\x00", b"BZh", b"7z\xbc\xaf\x27\x1c", b"\x28\xb5\x2f\xfd", b"Rar!")
_TAR, _TAR_AT = b"ustar", 257
_MAX_INFLATED_BYTES = 65_536

_RENAMED_FRR = "FRR under another name than frr.conf"
_FOREIGN_SYSTEM_PATTERNS: dict[str, re.Pattern[bytes]] = {
    "Arista EOS": re.compile(
        rb"^! device: [^\n]*EOS-|^daemon TerminAttr|^service routing protocols model", re.MULTILINE
    ),
    "Cisco IOS XR": re.compile(rb"^!! IOS XR", re.MULTILINE),
    "Cisco NX-OS": re.compile(
        rb"^feature (?:bgp|lldp|interface-vlan|nxapi|vpc|bfd)[ \t\r]*$|^policy-map type network-qos ", re.MULTILINE
    ),
    "Cisco IOS": re.compile(
        rb"^service timestamps |^boot-start-marker|^interface (?:Gig|TenGig|FortyGig|TwentyFiveGig|HundredGig)",
        re.MULTILINE,
    ),
    "Dell OS10": re.compile(rb"^! Version 10\.[0-9]|^dcbx enable|^os10# ", re.MULTILINE),
    "Juniper Junos": re.compile(
        rb"^(?:system|chassis|interfaces|protocols) \{|^set (?:version [0-9]|system host-name )", re.MULTILINE
    ),
    "Nokia SR OS": re.compile(rb"TiMOS-[A-Z]"),
    "Huawei VRP or H3C Comware": re.compile(rb"^[ \t]*sysname \S", re.MULTILINE),
    _RENAMED_FRR: re.compile(rb"^frr (?:version|defaults) |^router bgp [0-9]", re.MULTILINE),
}
_NVUE_YAML_START = re.compile(rb"^(?:set|header):[ \t]*\r?\n[ \t]+\S", re.MULTILINE)
_TOP_KEY_LINE = re.compile(rb"^([a-z_]+):", re.MULTILINE)
_RULE_KEYS = {b"scope", b"message", b"examples"}
_PROFILE_BAND_KEYS = {b"ecn", b"watchdog", b"shares"}
_CONTAINERLAB_TOPOLOGY_LINE = re.compile(rb"^topology:", re.MULTILINE)
_API_VERSION_LINE = re.compile(rb"^apiVersion[ \t]*:", re.MULTILINE)
_KUBERNETES_KIND_LINE = re.compile(rb"^kind[ \t]*:[ \t]*[\"']?([A-Za-z]{1,63})\b", re.MULTILINE)
_PORT_CONFIG_HEADER_LINE = re.compile(rb"^#?[ \t]*name[ \t]+lanes[ \t]", re.MULTILINE)
_SYSTEMD_SECTION_LINE = re.compile(rb"^\[(?:Unit|Service|Install)\][ \t\r]*$", re.MULTILINE)
_COMMENT_LINE = re.compile(rb"^[ \t]*(?:#|!|//)[^\n]*$", re.MULTILINE)


def decode_head(file_head: bytes) -> bytes:
    """Return the beginning of a file as UTF-8 with line feeds, as far as its encoding can be seen."""
    if file_head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        file_head = file_head.decode("utf-16", "ignore").encode()
    elif file_head[:4].count(0) and len(file_head) > 3:
        for codec, zeros in (("utf-16-le", (1, 3)), ("utf-16-be", (0, 2))):
            if tuple(at for at in range(4) if file_head[at] == 0) == zeros:
                file_head = file_head.decode(codec, "ignore").encode()
    return file_head if b"\n" in file_head or b"\r" not in file_head else file_head.replace(b"\r", b"\n")


def is_json(content_bytes: bytes) -> bool:
    """Whether a text begins as a JSON object or list does."""
    return content_bytes[:64].removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")


def is_blank(content_bytes: bytes) -> bool:
    """Whether a text states nothing: it is empty, or has only comments, brackets, or an NVUE header."""
    stripped_text = _COMMENT_LINE.sub(b"", decode_head(content_bytes).removeprefix(b"\xef\xbb\xbf")).strip()
    if stripped_text in (b"", b"{}", b"[]", b"null", b"---"):
        return True
    return stripped_text.startswith(b"- header:") and re.search(rb"^- (?!header:)", stripped_text, re.MULTILINE) is None


def nodrop_yaml_kind(file_head: bytes) -> str:
    """Return whether a YAML text is a `rule`, a `profile` or a `cabling sheet` of nodrop, by its keys; else nothing."""
    keys = set(_TOP_KEY_LINE.findall(file_head))
    if keys == {b"cables"}:
        return "cabling sheet"
    if keys > _RULE_KEYS:
        return "rule"
    return "profile" if b"about" in keys and keys & _PROFILE_BAND_KEYS else ""


def is_systemd_unit(file_head: bytes) -> bool:
    """Whether a text is a unit of systemd, by its sections."""
    return _SYSTEMD_SECTION_LINE.search(file_head) is not None


def unread_reason_by_name(name: str) -> str:
    """Return why a file of that name is no configuration in use; nothing where its name does not show that."""
    low = name.lower()
    if low.endswith(_TEMPLATE_SUFFIXES):
        return "a template, which is not rendered"
    if _BACKUP_NAME_PATTERN.search(low) or _NUMBERED_COPY_PATTERN.search(low):
        return "a copy by its name"
    return ""


def unread_reason_by_content(
    name: str, file_head: bytes, *, is_whole: bool, switch_json: str, is_switch: Callable[[str, bytes], bool]
) -> UnreadFileReason:
    """Return why a file with this beginning is not read.

    `is_switch`: whether a reader takes a name and a text; `switch_json`: how the JSON file of a switch is called.
    """
    text = decode_head(file_head)
    if is_blank(text) and is_whole:
        return UnreadFileReason("empty: contains no configuration", is_device=True)
    if file_head.startswith(_GZIP_MAGIC):
        inner = _decompress_head(file_head)
        return UnreadFileReason(
            "compressed with gzip; decompress it", is_switch(name.removesuffix(".gz"), decode_head(inner))
        )
    if file_head.startswith(_ARCHIVE_MAGICS) or file_head[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        return UnreadFileReason("an archive, which is not opened")
    if b"\0" in text:
        return UnreadFileReason("no text")
    foreign = next(
        (system_name for system_name, pattern in _FOREIGN_SYSTEM_PATTERNS.items() if pattern.search(text)), ""
    )
    if foreign:
        return UnreadFileReason(
            f"a configuration of {foreign}, which nodrop does not read",
            is_device=True,
            is_known=True,
            hint=_PLATFORM_HINT if foreign == _RENAMED_FRR else "",
        )
    if _TEMPLATE_TAG_PATTERN.search(text):
        return UnreadFileReason("a template, which is not rendered")
    if name.lower().endswith(".json") or is_json(text):
        return _classify_unread_json(text, is_whole=is_whole, switch_json=switch_json)
    if text.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<":
        return UnreadFileReason("XML, which nodrop does not read")
    if _NVUE_YAML_START.search(text):
        return UnreadFileReason(
            "NVUE settings outside of a list; expected `- header:` and `- set:`", is_device=True, is_known=True
        )
    if name.lower().endswith((".yaml", ".yml")):
        if _API_VERSION_LINE.search(text) and (kinds := dict.fromkeys(_KUBERNETES_KIND_LINE.findall(text))):
            return UnreadFileReason(
                f"Kubernetes {b', '.join(kinds).decode()}, which nodrop does not read", is_known=True
            )
        return UnreadFileReason(
            "a containerlab topology" if _CONTAINERLAB_TOPOLOGY_LINE.search(text) else "YAML of no known form"
        )
    if _PORT_CONFIG_HEADER_LINE.search(text):
        return UnreadFileReason("SONiC's table of ports (port_config.ini), which nodrop does not read")
    return UnreadFileReason("text of no known form")


def _decompress_head(head: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(head, _MAX_INFLATED_BYTES)
    except zlib.error:
        return b""


def _classify_unread_json(text: bytes, *, is_whole: bool, switch_json: str) -> UnreadFileReason:
    """Return the kind of a JSON text that is no configuration."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
        if is_whole:
            return UnreadFileReason("JSON that cannot be parsed; it may be cut short", is_device=True)
    keys = document.keys() if isinstance(document, dict) else set()
    if {"edges"} <= keys or {"nodes", "links"} <= keys:
        return UnreadFileReason("a topology in JSON, which nodrop does not read", is_known=True)
    if "hostInterfaces" in keys or "iptablesFile" in keys:
        return UnreadFileReason("a host of a Batfish snapshot", is_known=True)
    if "hosts" in keys:
        return UnreadFileReason("a list of hosts in JSON, which nodrop does not read", is_known=True)
    if isinstance(document, list) and document and all(isinstance(step, dict) and "op" in step for step in document):
        return UnreadFileReason("a JSON patch, which is no state", is_known=True)
    return UnreadFileReason(f"JSON without a table of {switch_json}", is_known=True, hint=_PLATFORM_HINT)
