"""Commands that set NICs of other makers: Broadcom's bnxt_setupcc.sh and niccli, AMD's nicctl, and dcb of iproute2.

Sources: Broadcom bnxt_setupcc.sh 236.1.155.0 (its usage text); AMD Pensando Pollara 400 configuration and benchmarking
guide (nicctl update qos); iproute2, man dcb-pfc, dcb-app.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from nodrop.platforms.hosts.facts import HostFileContent, HostFileNote, parse_byte, parse_number, word_after
from nodrop.syntax.places import Span

RecordFact = Callable[[str, str, object, Span], None]
"""Takes the part, the field, its value and where it stands."""

_BNXT_SETUPCC_OPTIONS = frozenset("dimvrscpbtCuVh")
_DSCPS, _PRIORITIES = range(64), range(8)
_NICCTL_UPDATE_PATTERN = re.compile(r"update (qos|port|dcqcn|pipeline|lif|card|profile)\b")


class NicCommandReader:
    """Reads such commands of one file; its results go to `say`, unknown parts to the file's notes."""

    def __init__(self, parsed_facts: HostFileContent, say: RecordFact) -> None:
        self._found = parsed_facts
        self._say = say

    def read_command(self, name: str, line_words: Sequence[str], span: Span) -> bool:
        """Read a command by its name, and return whether it is one of these."""
        read = _READER_BY_COMMAND.get(name)
        if read is not None:
            read(self, line_words, span)
        return read is not None

    def _note(self, message: str, span: Span) -> None:
        self._found.notes.append(HostFileNote("not-understood", message, span))

    def _map_dscps(self, nic_part: str, dscps: Iterable[int | None], priority: int | None, span: Span) -> None:
        """Map DSCPs to a priority; those that are none are left out."""
        codes = [dscp for dscp in dscps if dscp is not None and dscp in _DSCPS]
        if priority not in _PRIORITIES or not codes:
            return
        fact = self._found.parts.get(nic_part, {}).get("dscp_to_priority")
        table = list(fact.value) if fact else [None] * 64
        for dscp in codes:
            table[dscp] = priority
        self._say(nic_part, "dscp_to_priority", tuple(table), span)

    def _set_pfc_priorities(self, nic_part: str, priorities: Sequence[int], span: Span, *, on: bool) -> None:
        """Add priorities to those with PFC, or take them out."""
        fact = self._found.parts.get(nic_part, {}).get("pfc_priorities")
        former = set(fact.value) if fact else set()
        changed = former.union(priorities) if on else former.difference(priorities)
        self._say(nic_part, "pfc_priorities", tuple(sorted(changed)), span)

    def _read_bnxt_setupcc(self, words: Sequence[str], span: Span) -> None:
        options = dict(_parse_options(words))
        for name in options.keys() - _BNXT_SETUPCC_OPTIONS:
            self._note(f"bnxt_setupcc.sh has no option -{name}", span)
        nic_part = _literal_nic_name(options.get("i", ""))
        priority, dscp = parse_byte(options.get("r", "")), parse_byte(options.get("s", ""))
        cnp_priority, cnp_dscp = parse_byte(options.get("c", "")), parse_byte(options.get("p", ""))
        self._add_nic_model("Thor-2")
        if priority in _PRIORITIES:
            self._say(nic_part, "pfc_priorities", (priority,) if options.get("m", "3") in ("1", "3") else (), span)
            self._map_dscps(nic_part, [dscp], priority, span)
            if options.get("m", "3") in ("2", "3"):
                self._say(nic_part, "dcqcn_priorities", (priority,), span)
        if cnp_dscp in _DSCPS:
            self._say(nic_part, "cnp_dscp", cnp_dscp, span)
        if cnp_priority in _PRIORITIES:
            self._say(nic_part, "cnp_priority", cnp_priority, span)
        self._say(nic_part, "link_pause", False, span)

    def _read_niccli_command(self, words: Sequence[str], span: Span) -> None:
        """Read the settings of QoS; all else that the tool does is no fact of the model."""
        self._add_nic_model("Thor-2")
        nic_part = _literal_nic_name(word_after(words, "-dev", "--dev", "-i", "--pci"))
        text = " ".join(words)
        if (paused := re.search(r"set_pfc.*enabled=(\S+)|--pfc\s+--enable[= ](\S+)", text)) is not None:
            wanted_text = paused[1] or paused[2]
            priorities = (
                ()
                if wanted_text in ("none", "0xFF", "0xff")
                else tuple(sorted(_read_number_list(wanted_text, _PRIORITIES)))
            )
            self._say(nic_part, "pfc_priorities", priorities, span)
        elif (mapped := re.search(r"(?:app=|--app[= ])([0-7]),5,(0x[0-9a-fA-F]+|[0-9]+)", text)) is not None:
            if " -d " not in f" {text} " and "--del" not in text:
                self._map_dscps(nic_part, [parse_byte(mapped[2])], int(mapped[1]), span)
        elif re.search(r"\bqos\b|set_(?!option|map)|dscp2prio", text) and not re.search(
            r"get_|--show|--ets|set_ets", text
        ):
            self._note(f"niccli {text[:60]}: not read", span)

    def _read_dcb_command(self, words: Sequence[str], span: Span) -> None:
        nic_part = _literal_nic_name(word_after(words, "dev"))
        if "pfc" in words and "set" in words and "prio-pfc" in words:
            for word in words[words.index("prio-pfc") + 1 :]:
                which, _, state = word.partition(":")
                priorities = tuple(_PRIORITIES) if which == "all" else tuple(_read_number_list(which, _PRIORITIES))
                if state in ("on", "off"):
                    self._set_pfc_priorities(nic_part, priorities, span, on=state == "on")
        elif "app" in words and "dscp-prio" in words and {"add", "replace"} & set(words):
            for word in words[words.index("dscp-prio") + 1 :]:
                dscp, _, priority = word.partition(":")
                self._map_dscps(nic_part, [parse_byte(dscp)], parse_number(priority), span)

    def _read_nicctl_command(self, words: Sequence[str], span: Span) -> None:
        self._add_nic_model("Pollara-400")
        text = " ".join(words)
        if not text.startswith("update "):
            return
        nic_part = _literal_nic_name(word_after(words, "-p", "--port", "-b", "--card"))
        if _NICCTL_UPDATE_PATTERN.match(text) is None:
            self._note(f"nicctl {text[:60]}: not read", span)
        elif words[1] == "port":
            self._read_nicctl_port(words, nic_part, span)
        elif words[1] == "qos":
            self._read_nicctl_qos(words, nic_part, span)

    def _read_nicctl_port(self, words: Sequence[str], nic_part: str, span: Span) -> None:
        if (mtu := parse_number(word_after(words, "--mtu"))) is not None:
            self._say(nic_part, "mtu_bytes", mtu, span)
        if (pause := word_after(words, "--pause-type")) in ("pfc", "link", "none"):
            self._say(nic_part, "link_pause", pause == "link", span)

    def _read_nicctl_qos(self, words: Sequence[str], nic_part: str, span: Span) -> None:
        kind = word_after(words, "--classification-type").lower()
        priority = parse_number(word_after(words, "--priority"))
        if kind in ("dscp", "pcp"):
            self._say(nic_part, "trust", kind, span)
        elif "dscp-to-priority" in words:
            self._map_dscps(nic_part, _read_number_list(word_after(words, "--dscp"), _DSCPS), priority, span)
        elif "pfc" in words:
            self._set_pfc_priorities(
                nic_part,
                tuple(_read_number_list(word_after(words, "--priority"), _PRIORITIES)),
                span,
                on=word_after(words, "--no-drop") == "enable",
            )
        elif not {"dscp-to-purpose", "scheduling"} & set(words):
            self._note(f"nicctl {' '.join(words)[:60]}: not read", span)

    def _add_nic_model(self, model: str) -> None:
        self._found.by_command.add(model)


def _parse_options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the options of getopts, each with its value."""
    remaining_words = list(words)
    while remaining_words:
        word = remaining_words.pop(0)
        if len(word) > 1 and word.startswith("-"):
            value = word[2:] or (remaining_words.pop(0) if remaining_words and word[1] not in "Vh" else "")
            yield word[1], value


def _read_number_list(file_text: str, within: range) -> Iterator[int]:
    """Yield the numbers of a list such as 0-23,25; other words, and numbers outside, are left out."""
    for piece in file_text.split(","):
        first_text, dash, last = piece.partition("-")
        start, end = parse_number(first_text), parse_number(last if dash else first_text)
        if start is not None and end is not None:
            yield from (listed_number for listed_number in within if start <= listed_number <= end)


def _literal_nic_name(nic_part: str) -> str:
    return "" if "$" in nic_part or "%" in nic_part else nic_part


_READER_BY_COMMAND: Mapping[str, Callable[[NicCommandReader, Sequence[str], Span], None]] = {
    "bnxt_setupcc.sh": NicCommandReader._read_bnxt_setupcc,
    "bnxtqos": NicCommandReader._read_niccli_command,
    "niccli": NicCommandReader._read_niccli_command,
    "dcb": NicCommandReader._read_dcb_command,
    "nicctl": NicCommandReader._read_nicctl_command,
}
