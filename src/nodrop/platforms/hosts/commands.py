"""Shell scripts that set NICs, and files of environment variables of NCCL and UCX: line by line, loops not followed."""

import re
import shlex
from collections.abc import Callable, Iterator, Sequence

from nodrop.formats.places import Span
from nodrop.limits import MAX_LINE
from nodrop.platforms.hosts import nvme
from nodrop.platforms.hosts.facts import Form, Noticed, Parsed, byte, line_span, number, switches

_COMMAND = re.compile(
    r"(?m)^[^#\n]*\b(mlnx_qos\s++(?:[^\s-]*+-|\S++\s*+-)|cma_roce_(mode|tos)\s++-|nvme\s++connect(-all)?\s++-|/ecn/roce_[nr]p/|/tc/1/traffic_class)"
)
_VARIABLE = re.compile(r"(?m)^[^#\n]*\b(NCCL_(IB_|P2P_|SHM_)|UCX_(IB_|TLS|NET_))[A-Z0-9_]*=")
_WORDS = ("mlnx_qos", "cma_roce_", "/ecn/roce_", "/tc/1/traffic_class", "NCCL_", "UCX_", "nvme")
"""Of which a file that either finds something in has one; most files have none, and are not searched line by line."""
_ASSIGNED = re.compile(r"""(?:^|[\s;"'])([A-Za-z_][A-Za-z0-9_]*)=("[^"]*"|'[^']*'|[^\s;"']*)""")
_USED = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_ECHO = re.compile(r"\becho\s+(\S+)\s*(?:>|\|\s*(?:sudo\s+)?tee)\s*([^\s;]+)")
_ECN = re.compile(r"(.*)/roce_([nr]p)/enable/([0-7])$")
_SPLIT = re.compile(r";|&&|\|\||\||\bdo\b|\bthen\b")
_LONG = (
    "pfc", "specific_pfc", "get_pfc", "prio_tc", "tsa", "tcbw", "ratelimit", "dcbx", "trust", "dscp2prio", "cable_len",
    "prio2buffer", "buffer_size", "interface", "help", "version",
)  # fmt: skip
_SHORT = {
    "f": "pfc", "F": "specific_pfc", "P": "get_pfc", "p": "prio_tc", "s": "tsa", "t": "tcbw", "r": "ratelimit",
    "d": "dcbx", "i": "interface", "a": "all", "h": "help", "v": "version", "q": "quiet",
}  # fmt: skip
_FLAGS = ("all", "help", "version", "quiet")
_SAYING = ("echo", "printf", "log")
"""Words after which a line only says something."""
_STORM_OFF = ("0", "off", "disable")


def _shows(head: str) -> bool:
    return any(word in head for word in _WORDS) and bool(_COMMAND.search(head) or _VARIABLE.search(head))


def _parse(text: str) -> tuple[Parsed, ...]:
    return (_Script().read(text),)


class _Script:
    """A script while it is read: variables that were given a value, and the priorities of DCQCN by NIC and end."""

    def __init__(self) -> None:
        self._found = Parsed()
        self._variables: dict[str, str] = {}
        self._ends: dict[str, dict[str, set[int]]] = {}

    def read(self, text: str) -> Parsed:
        for line, span in _whole_lines(text):
            self._assignments(line, span)
            line = self._expanded(line)
            if (echoed := _ECHO.search(line.replace('"', "").replace("'", ""))) is not None:
                self._echo(echoed[1], echoed[2], span)
            for piece in _SPLIT.split(line):
                self._command(piece.strip(), span)
        return self._found

    def _expanded(self, line: str) -> str:
        """Return a line with the values of its variables; as it is written if that is longer than MAX_LINE."""
        values = [self._variables.get(used[1] or used[2], used[0]) for used in _USED.finditer(line)]
        if sum(map(len, values)) > MAX_LINE:
            return line
        following = iter(values)
        return _USED.sub(lambda _: next(following), line)

    def _assignments(self, line: str, span: Span) -> None:
        for name, quoted in _ASSIGNED.findall(line):
            value = quoted.strip("\"'")
            if not set(value) & set("$`("):  # what is worked out when the script runs stays a variable
                self._variables[name] = value
            read = _ENVIRONMENT.get(name)
            if read is not None and (stated := read[1](value)) is not None:
                self._found.say("", read[0], stated, span)
        if {"NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"} & {name for name, _ in _ASSIGNED.findall(line)}:
            both = all(self._variables.get(f"NCCL_{way}_DISABLE") == "1" for way in ("P2P", "SHM"))
            self._found.say("", "loopback", both, span)

    def _echo(self, value: str, path: str, span: Span) -> None:
        if (of := _ECN.match(path)) is not None:
            self._dcqcn(_nic(of[1]), of[2], int(of[3]), span, on=value == "1")
            return
        for ending, name in _FILES.items():
            if path.endswith(ending) and (stated := byte(value)) is not None:
                self._found.say(_nic(path[: -len(ending)]), name, stated, span)

    def _dcqcn(self, part: str, end: str, priority: int, span: Span, *, on: bool) -> None:
        ends = self._ends.setdefault(part, {})
        (ends.setdefault(end, set()).add if on else ends.setdefault(end, set()).discard)(priority)
        self._found.say(part, "dcqcn_priorities", tuple(sorted(set.intersection(*ends.values()))), span)

    def _command(self, piece: str, span: Span) -> None:
        try:
            words = shlex.split(piece[:MAX_LINE], comments=True)  # takes time with the square of a word
        except ValueError:
            words = piece[:MAX_LINE].split()
        if words and words[0] in _SAYING:
            return
        for at, word in enumerate(words):
            name = word.rpartition("/")[2].rpartition("=")[2]
            if name in _COMMANDS:
                _COMMANDS[name](self, words[at + 1 :], span)
                return

    def _mlnx_qos(self, words: Sequence[str], span: Span) -> None:
        options: list[tuple[str, str]] = []
        rest = list(words)
        while rest:
            word = rest.pop(0)
            if not word.startswith("-") or word == "-":
                continue
            name, equals, value = word.partition("=") if word.startswith("--") else (word[:2], "", word[2:])
            known = _option(name)
            if known is None:
                close = "its options are " + ", ".join(f"--{one}" for one in _LONG)
                self._found.noticed.append(Noticed("nic-option", {"found": name, "expected": close}, span))
                continue
            if known not in _FLAGS and not equals and not value and rest:
                value = rest.pop(0)
            options.append((known, value))
        part = next((value for name, value in options if name == "interface"), "")
        for name, value in options:
            self._set(_nic(part), name, value, span)

    def _set(self, part: str, name: str, value: str, span: Span) -> None:
        match name:
            case "trust" if value in ("dscp", "pcp"):
                self._found.say(part, "trust", value, span)
            case "pfc" if (priorities := switches(value)) is not None:
                self._found.say(part, "pfc_priorities", priorities, span)
            case "cable_len" if (length_m := number(value)) is not None:
                self._found.say(part, "cable_length_m", length_m, span)
            case "prio2buffer" if re.fullmatch(r"[0-7](,[0-7]){7}", value):
                self._found.say(part, "priority_to_buffer", tuple(map(int, value.split(","))), span)
            case "dscp2prio":
                self._mapped(part, value.split(","), span)

    def _mapped(self, part: str, words: Sequence[str], span: Span) -> None:
        if len(words) != 3 or words[0] != "set":
            return
        dscp, priority = number(words[1]), number(words[2])
        if dscp is not None and dscp < 64 and priority is not None and priority < 8:
            held = self._found.parts.get(part, {}).get("dscp_to_priority")
            table = list(held.value) if held else [None] * 64
            table[dscp] = priority
            self._found.say(part, "dscp_to_priority", tuple(table), span)

    def _cma_tos(self, words: Sequence[str], span: Span) -> None:
        if (value := byte(_after(words, "-t"))) is not None:
            self._found.say(_nic(_after(words, "-d")), "tos", value, span)

    def _cma_mode(self, words: Sequence[str], span: Span) -> None:
        if (mode := _after(words, "-m")) in ("1", "2"):
            self._found.say(_nic(_after(words, "-d")), "roce_version", int(mode), span)

    def _nvme(self, words: Sequence[str], span: Span) -> None:
        if words and words[0] in ("connect", "connect-all"):
            nvme.say(self._found, nvme.connection(words[1:]), span)

    def _ip(self, words: Sequence[str], span: Span) -> None:
        mtu = number(_after(words, "mtu"))
        if "link" in words and mtu is not None:
            self._found.say(_nic(_after(words, "dev") or _after(words, "set")), "mtu_bytes", mtu, span)

    def _ethtool(self, words: Sequence[str], span: Span) -> None:
        if words and words[0] in ("-A", "--pause") and len(words) > 1:
            on = "on" in (_after(words, "rx"), _after(words, "tx"))
            self._found.say(_nic(words[1]), "link_pause", on, span)
        elif words and words[0] == "--set-tunable" and len(words) > 1 and "pfc-prevention-tout" in words:
            guarded = _after(words, "pfc-prevention-tout") not in _STORM_OFF
            self._found.say(_nic(words[1]), "storm_guard", guarded, span)


def _whole_lines(text: str) -> Iterator[tuple[str, Span]]:
    """Yield the lines that say something, those that go on after a backslash as one, with the span of the first."""
    held, span = "", None
    for at, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not held and (not line or line.startswith("#")):
            continue
        span = span if held and span else line_span(at, raw)
        held += line.removesuffix("\\")
        if not line.endswith("\\"):
            yield held, span
            held = ""
    if held and span:
        yield held, span


def _option(name: str) -> str | None:
    """Return the option that a word means; a beginning that only one option has is enough, as optparse has it."""
    if not name.startswith("--"):
        return _SHORT.get(name[1:])
    wanted = name[2:]
    fitting = [one for one in _LONG if one.startswith(wanted)] if wanted not in _LONG else [wanted]
    return fitting[0] if len(fitting) == 1 else None


def _after(words: Sequence[str], word: str) -> str:
    at = words.index(word) + 1 if word in words else len(words)
    return words[at] if at < len(words) else ""


def _nic(path: str) -> str:
    """Return a NIC as a path or an argument names it; nothing where that is a variable of the script."""
    name = path.rstrip("/").removesuffix("/ecn").rpartition("/")[2]
    return "" if "$" in path or "*" in path else name


_FILES = {
    "/tc/1/traffic_class": "driver_traffic_class",
    "/roce_np/cnp_dscp": "cnp_dscp",
    "/roce_np/cnp_802p_prio": "cnp_priority",
}
"""How a file below /sys ends, and what is set by it."""

_ENVIRONMENT: dict[str, tuple[str, Callable[[str], object]]] = {
    "NCCL_IB_TC": ("traffic_class", byte),
    "UCX_IB_TRAFFIC_CLASS": ("ucx_traffic_class", byte),
    "NCCL_IB_GID_INDEX": ("gid_index", number),
    "UCX_IB_GID_INDEX": ("gid_index", number),
    "NCCL_IB_ROCE_VERSION_NUM": ("roce_version", number),
}

_COMMANDS: dict[str, Callable[[_Script, Sequence[str], Span], None]] = {
    "mlnx_qos": _Script._mlnx_qos,
    "cma_roce_tos": _Script._cma_tos,
    "cma_roce_mode": _Script._cma_mode,
    "nvme": _Script._nvme,
    "ip": _Script._ip,
    "ethtool": _Script._ethtool,
}

FORM = Form(_shows, _parse)
