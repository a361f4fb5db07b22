"""Words of commands as values: numbers in their units, lists, and a remark for every word that is not one."""

import re
from collections.abc import Mapping

from nodrop.limits import MAX_REMARKS_PER_SWITCH
from nodrop.model.reading import FilePlace, Remark
from nodrop.platforms.onyx.commands import OnyxCommand
from nodrop.syntax.places import quote_text
from nodrop.units import parse_whole_number

RUNNING_CONFIG_FILE = "running-config.txt"
KIBIBYTE_BYTES = 1024

_SIZE_PATTERN = re.compile(r"([0-9]{1,12})(?:\.[0-9]+)?([KkMm]?)")
_BYTES_BY_UNIT = {"": 1, "k": KIBIBYTE_BYTES, "m": KIBIBYTE_BYTES * KIBIBYTE_BYTES}


class CommandWordReader:
    """Reader of words of commands, which records their problems."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.remarks: list[Remark] = []
        self._remarked: set[tuple[object, ...]] = set()

    def remark_malformed_value(self, command: OnyxCommand, found_text: str, expected: str) -> None:
        """Report a word that a command does not take, once for all interfaces of the command."""
        fault = command.span, found_text, expected
        if len(self.remarks) < MAX_REMARKS_PER_SWITCH and fault not in self._remarked:
            self._remarked.add(fault)
            subject = (self.device, *command.names[:1]) if command.kind == "ethernet" else (self.device,)
            facts = {"path": " ".join(command.words[:4]), "found": quote_text(found_text), "expected": expected}
            place = FilePlace(RUNNING_CONFIG_FILE, command.span)
            self.remarks.append(Remark(kind="malformed-value", subject=subject, place=place, facts=facts))

    def integer(
        self, command: OnyxCommand, word: str, low: int, high: int, label: str = "a whole number"
    ) -> int | None:
        """Return a number; None, with a remark, where it is none or out of range."""
        number = parse_whole_number(word, high)
        if number is not None and number >= low:
            return number
        self.remark_malformed_value(command, word, f"{label} from {low} to {high}")
        return None

    def indexes(self, command: OnyxCommand, line_words: tuple[str, ...], limit: int) -> tuple[int, ...]:
        """Return the numbers of a list such as `3`, `0-2,4` or `0 1 2`, up to `limit`; report other entries."""
        found_indexes: list[int] = []
        for range_text in ",".join(line_words).split(","):
            first_word, _, last = range_text.partition("-")
            low = self.integer(command, first_word, 0, limit)
            high = low if not last else self.integer(command, last, 0, limit)
            if low is not None and high is not None:
                found_indexes += range(low, high + 1)
        return tuple(found_indexes)

    def size_bytes(self, command: OnyxCommand, word: str) -> int | None:
        """Return a size: plain bytes, or with K or M for KiB or MiB."""
        match = _SIZE_PATTERN.fullmatch(word)
        if not match:
            self.remark_malformed_value(command, word, "a size such as 67538, 70K or 5M")
            return None
        return int(match[1]) * _BYTES_BY_UNIT[match[2].lower()]

    def threshold_bytes(self, command: OnyxCommand, word: str) -> int | None:
        """Return a depth of a queue, which Onyx takes in kilobytes of 1024 bytes, as bytes."""
        integer = self.integer(command, word, 0, 100_000, "kilobytes of queue depth (not bytes)")
        return None if integer is None else integer * KIBIBYTE_BYTES

    def meaning_of_word(self, command: OnyxCommand, word: str, known_words: Mapping[str, str]) -> str | None:
        """Return the meaning of a word; None, with a remark, if it is not known."""
        if word not in known_words:
            self.remark_malformed_value(command, word, " or ".join(known_words))
        return known_words.get(word)
