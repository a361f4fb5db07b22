"""Access to a device's tables: tables and rows of the expected shape, and a remark for every one that is not."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeGuard, TypeVar

from nodrop.hardware import model_of_sku
from nodrop.limits import MAX_REMARKS_PER_SWITCH
from nodrop.model.change import FILE_SETTING_AREA
from nodrop.model.reading import NO_REMEDY, FileCorrection, FilePlace, Remark, Remedy
from nodrop.model.subject import Subject
from nodrop.platforms.sonic.database import DatabaseVersion
from nodrop.platforms.sonic.document import CONFIG_DB_FILE as CONFIG_DB_FILE
from nodrop.platforms.sonic.document import TablesDocument, find_place, merge_documents
from nodrop.platforms.sonic.secret_fields import are_keys_secret, may_hold_secret
from nodrop.platforms.sonic.tables import TABLE_BY_MAP_ATTRIBUTE
from nodrop.syntax.json import DuplicateJsonKey
from nodrop.syntax.places import quote_text
from nodrop.syntax.shapes import mapping_at
from nodrop.units import parse_whole_number

_T = TypeVar("_T")

WHOLE_CONFIG_TABLES = frozenset({"DEVICE_METADATA", "PORT"})
"""Files with these tables are a whole configuration; any others are a part, silent about the tables that they lack."""

_BUFFER_TABLES = frozenset(
    {
        "BUFFER_PG",
        "BUFFER_POOL",
        "BUFFER_PORT_EGRESS_PROFILE_LIST",
        "BUFFER_PORT_INGRESS_PROFILE_LIST",
        "BUFFER_PROFILE",
        "BUFFER_QUEUE",
    }
)
_QOS_TABLES = frozenset(
    {"PORT_QOS_MAP", "QUEUE", "SCHEDULER", "WRED_PROFILE", *(table for table, _, _ in TABLE_BY_MAP_ATTRIBUTE.values())}
)
_TABLES_WRITTEN_TOGETHER = ((_BUFFER_TABLES, _QOS_TABLES, "PORT_QOS_MAP"), (_QOS_TABLES, _BUFFER_TABLES, "BUFFER_POOL"))
"""`config qos reload` writes buffers and classes together, and `config qos clear` removes both (sonic-utilities
config/main.py): a file that has one of them and nothing of the other is a part, and silent about the other. The table
named last, without rows, says that there is nothing of it."""

_MAX_SPLIT_FIELDS = 512
"""Fields that the rows of a list of ports get in all, where they are split."""
_NUMBER_PATTERN = re.compile(r"\s*-?[0-9]{1,18}\s*")
_INDEX_RANGE_PATTERN = re.compile(r"([0-9]{1,2})(?:-([0-9]{1,2}))?")
_PRIORITY_PATTERN = re.compile(r"[0-7]")
_BRACKET_REFERENCE_PATTERN = re.compile(r"\[([A-Z0-9_]+)\|([^\]]*)\]")
_UNPRINTABLE_PATTERN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

RowFields = Mapping[str, str]


def is_conclusive_about_table(config_tables: Mapping[str, object], table_name: str) -> bool:
    """Whether tables can speak of one of them: they have it, or are a whole configuration and not a part without it."""
    return table_name in config_tables or (
        config_tables.keys() >= WHOLE_CONFIG_TABLES and table_name not in _tables_left_open(config_tables)
    )


def _tables_left_open(config_tables: Mapping[str, object]) -> frozenset[str]:
    """Return the tables that a configuration with all of WHOLE leaves open."""
    for table_group, lacking, _ in _TABLES_WRITTEN_TOGETHER:
        if not table_group.isdisjoint(config_tables) and lacking.isdisjoint(config_tables):
            return lacking
    return frozenset()


def required_empty_table(tables: Collection[str]) -> str | None:
    """Return the table that a file of these has to have, without rows, in order not to be read as a part."""
    last_tables = (
        last for group, lacking, last in _TABLES_WRITTEN_TOGETHER if group & {*tables} and lacking.isdisjoint(tables)
    )
    return next(last_tables, None)


_REFUSED_AS_WHOLE = frozenset(
    {
        "bracket-reference", "comma-port-list", "dangling-reference", "malformed-value", "odd-name",
        "refused-queue-key", "refused-rule", "rejected-row",
    }
)  # fmt: skip
"""Kinds of remarks that, on a row or table, are about all of it."""


class DeviceTables:
    """A device's tables, opened: `table_rows` never raises, with any content of the files."""

    def __init__(self, device: str, documents: Sequence[TablesDocument] = ()) -> None:
        self.device = device
        self.documents = documents
        self.data: Mapping[str, object] = merge_documents(documents)
        self.database = DatabaseVersion(self.data)
        self.whole = self.data.keys() >= WHOLE_CONFIG_TABLES
        self._silent = _tables_left_open(self.data)
        self.remarks: list[Remark] = []
        self._remarked: set[tuple[Any, ...]] = set()
        self.secrets: dict[str, list[str]] = {}
        """By table that was looked through for them: texts that no remark may quote, the longest first."""
        self.old_forms: set[tuple[str, ...]] = set()
        """Paths that are read as older releases do: the schema of a release is no reason to remove or miss them."""
        self._rows: dict[str, dict[str, dict[str, str]]] = {}

    def is_conclusive_about_table(self, table: str) -> bool:
        """Whether the file covers a table, as `is_conclusive_about_table` defines it."""
        return table in self.data or (self.whole and table not in self._silent)

    @cached_property
    def lists_ports_with_lanes(self) -> bool:
        """Whether a row of PORT states lanes, without which a table of ports is a part of one (sonic-port.yang)."""
        return any("lanes" in row for row in self.rows("PORT").values())

    def rows(self, table: str) -> dict[str, dict[str, str]]:
        """Return a table's rows with every value as text; a value of another shape is left out, with a remark."""
        if table not in self._rows:
            rows = self.data.get(table, {})
            self._rows[table] = rows if _is_text_table(rows) else dict(self._well_formed_rows(table, rows))
        return self._rows[table]

    def _well_formed_rows(self, table: str, rows: object) -> Iterator[tuple[str, dict[str, str]]]:
        if not isinstance(rows, dict):
            self.remark_malformed_value((table,), rows, "an object of rows")
            return
        for key, row in rows.items():
            if not isinstance(row, dict):
                self.remark_malformed_value((table, key), row, "an object of fields")
                continue
            if any(type(value) is not str for value in row.values()):
                row = {
                    field: text
                    for field, value in row.items()
                    if (text := self._text(table, key, field, value)) is not None
                }
            yield key, row

    def _text(self, table: str, key: str, field: str, value: object) -> str | None:
        if isinstance(value, str):
            return value
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return ",".join(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        self.remark_malformed_value((table, key, field), value, "text")
        return None

    def port_rows(self, table_name: str) -> Iterator[tuple[str, str, str, dict[str, str]]]:
        """Yield (port, rest of the key, key, row) for a table keyed by port; port lists give a row for each port.

        The watchdog takes a list for the name of a missing port (sonic-swss orchagent/pfcwdorch.cpp).
        """
        asic = asic_key_of_tables(self.data)
        for key, row in self.rows(table_name).items():
            ports, _, remainder = key_within_asic(key, asic).partition("|")
            if "," in ports:
                subject, remedy = (ports.split(",")[0],), self._split_remedy(table_name, key)
                self.remark("comma-port-list", subject, (table_name, key), remedy, key=key, table=table_name)
                if table_name == "PFC_WD":
                    continue
            for port in ports.split(",") if ports else ():
                yield port, remainder, key, row

    def _split_remedy(self, table_name: str, key: str) -> Remedy:
        """Return the corrections that give each port of a list a row; none where a port has another row already."""
        rows = self.rows(table_name)
        row, (ports, bar, remainder) = rows[key], key.partition("|")
        own_keys = [f"{port}{bar}{remainder}" for port in ports.split(",")]
        new_keys = [own for own in own_keys if own not in rows]
        if any(rows.get(own, row) != row for own in own_keys) or len(new_keys) * len(row) > _MAX_SPLIT_FIELDS:
            return NO_REMEDY
        return Remedy(
            corrections=tuple(
                FileCorrection((FILE_SETTING_AREA, table_name, written, field), *values)
                for field, value in row.items()
                for written, values in ((key, (value, None)), *((new, (None, value)) for new in new_keys))
            )
        )

    def integer(self, keys: tuple[str, ...], row: RowFields, field: str) -> int | None:
        """Return a field as a number, None where it is absent or not a number (with a remark)."""
        text = row.get(field)
        if text is None:
            return None
        number = parse_whole_number(text)
        if number is None and _NUMBER_PATTERN.fullmatch(text):
            number = int(text)
        if number is None:
            self.remark_malformed_value((*keys, field), text, "a whole number")
        return number

    def meaning_of_word(
        self, keys: tuple[str, ...], row: RowFields, field: str, known_words: Mapping[str, _T]
    ) -> _T | None:
        """Return the meaning of a field's word, None if it is absent or unknown (with a remark)."""
        text = row.get(field)
        if text is None:
            return None
        if text not in known_words:
            self.remark_malformed_value((*keys, field), text, " or ".join(known_words))
            return None
        return known_words[text]

    def parse_index_range(self, keys: tuple[str, ...], text: str, limit: int) -> tuple[int, ...]:
        """Return `3-4` or `3` as numbers up to `limit`; nothing, with a remark, where it is neither."""
        match = _INDEX_RANGE_PATTERN.fullmatch(text)
        start, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not start <= last <= limit or (match and match[2] and start == last):
            self.remark_malformed_value(keys, text, f"a number up to {limit}, or a rising range such as 3-4")
            return ()
        return tuple(range(start, last + 1))

    def priorities(self, keys: tuple[str, ...], row: RowFields, field: str) -> tuple[int, ...]:
        """Return `3,4` as priorities; an entry that is not one of 0 to 7 is left out, with a remark."""
        text = row.get(field, "")
        priority_texts = [word.strip() for word in text.split(",")] if text.strip() else []
        if not all(map(_PRIORITY_PATTERN.fullmatch, priority_texts)):
            self.remark_malformed_value((*keys, field), text, "priorities from 0 to 7, such as 3,4")
        return tuple(sorted({int(word) for word in priority_texts if _PRIORITY_PATTERN.fullmatch(word)}))

    def row_of_reference(
        self, keys: tuple[str, ...], row: RowFields, field: str, table: str, subject: Subject
    ) -> RowFields | None:
        """Return the row that a field names; None where the field is absent, or names nothing (with a remark)."""
        name = row.get(field)
        return None if name is None else self.find_row((*keys, field), name, table, subject)

    def find_row(self, keys: tuple[str, ...], name: str, table_name: str, subject: Subject) -> RowFields | None:
        """Return the row `name` of `table_name`; None, with a remark, where a table that is here has no such row."""
        reference, name = name, name_in_reference(name)
        if reference != name and self.database.is_new_enough_for("names without brackets"):
            stated = self.rows(keys[0])[keys[1]][keys[2]]
            correction = FileCorrection((FILE_SETTING_AREA, *keys), stated, _without_brackets(stated))
            self.remark("bracket-reference", subject, keys, Remedy((correction,)), reference=reference, name=name)
        row = self.rows(table_name).get(name)
        if row is None and self.is_conclusive_about_table(table_name):
            self.remark("dangling-reference", subject, keys, kind=table_name, name=name, field=keys[-1])
        return row

    def remark_malformed_value(self, keys: tuple[str, ...], found_value: object, expected: str) -> None:
        """Remark that a value is not what its field takes."""
        is_quoted = isinstance(found_value, str) and not may_hold_secret(keys)
        text = quote_text(str(found_value)) if is_quoted else json_type_name(found_value)
        self.remark("malformed-value", (), keys, path="/".join(keys), found=text, expected=expected)

    @property
    def has_reached_fault_limit(self) -> bool:
        """Whether as many faults are listed as are listed of one switch: what else is wrong is not looked for."""
        return len(self.remarks) >= MAX_REMARKS_PER_SWITCH

    def remark(
        self,
        kind: str,
        subject: Subject,
        keys: tuple[str, ...],
        remedy: Remedy = NO_REMEDY,
        cause: tuple[str, ...] = (),
        /,
        **facts: str,
    ) -> None:
        """Remember something wrong in the text at `keys`, once; `subject` is below the device.

        `cause` is another place to point at.
        """
        fault = (kind, keys, *facts.values())
        if not self.has_reached_fault_limit and fault not in self._remarked:
            self._remarked.add(fault)
            place = self.place(cause or keys)
            names = _names_in_key(keys[1]) if len(keys) > 1 and not are_keys_secret(keys[0]) else ()
            self.remarks.append(
                Remark(
                    kind=kind,
                    subject=(self.device, *subject),
                    place=place,
                    facts=facts,
                    names=names,
                    remedy=remedy,
                    secret=may_hold_secret(keys),
                )
            )

    def forget_malformed(self, keys: tuple[str, ...]) -> bool:
        """Take back that the value at `keys` is malformed, whose field does not exist; False if it was not said."""
        path, count = "/".join(keys), len(self.remarks)
        self.remarks = [
            remark for remark in self.remarks if remark.kind != "malformed-value" or remark.facts.get("path") != path
        ]
        return len(self.remarks) < count

    def set_device_name(self, device: str) -> str:
        """Name the device, also in earlier remarks, and return the name."""
        self.device = device
        self.remarks = [replace(remark, subject=(device, *remark.subject[1:])) for remark in self.remarks]
        return device

    def paths_with_remarks(self) -> frozenset[tuple[str, ...]]:
        """Return the paths of values that were remarked, and of rows and tables that a remark says are refused.

        Other remarks on a row or table are about something else, such as the lack of a name that tools look for.
        """
        return frozenset(keys for kind, keys, *_ in self._remarked if len(keys) > 2 or kind in _REFUSED_AS_WHOLE)

    def place(self, keys: tuple[str, ...]) -> FilePlace | None:
        """Return where the nearest existing part of a path stands: a field's value, else a row's or table's key."""
        return find_place(self.documents, keys)

    def remark_odd_keys(self) -> None:
        """Remark doubled keys, and keys that hide characters."""
        for document in self.documents:
            for double in document.duplicates():
                self._remark_duplicate_key(document.name, double)
        if any(document.may_hold_invisible_characters() for document in self.documents):
            for table, rows in self.data.items():
                for key in (table, *(rows if isinstance(rows, dict) else ())):
                    if _UNPRINTABLE_PATTERN.search(key):
                        path = (table,) if key is table else (table, key)
                        self.remark("odd-name", (), path, name=quote_text(key))

    def _remark_duplicate_key(self, name: str, double: DuplicateJsonKey) -> None:
        facts = {"path": "/".join(map(str, double.keys)), "first_line": str(double.first.line)}
        place = FilePlace(name, double.span)
        self.remarks.append(Remark(kind="duplicate-key", subject=(self.device,), place=place, facts=facts))


def model_of(config: DeviceTables) -> str | None:
    """Return the switch model that HWSKU and platform name; None where none is named, or not in the catalogue."""
    localhost = config.rows("DEVICE_METADATA").get("localhost", {})
    hwsku = localhost.get("hwsku")
    return model_of_sku(hwsku, localhost.get("platform")) if hwsku else None


def asic_key_of_tables(data: Mapping[str, object]) -> tuple[str, str]:
    """Return the host and the ASIC of the tables, as keys of a chassis write them."""
    localhost = mapping_at(data, "DEVICE_METADATA", "localhost")
    return str(localhost.get("hostname", "")), str(localhost.get("asic_name", "")).lower()


def is_chassis_key(key: str) -> bool:
    """Whether a key of a queue or its buffer names host and ASIC, as in a chassis: `host|asic|port|3`."""
    return key.count("|") == 3


def key_within_asic(key: str, asic_key: tuple[str, str]) -> str:
    """Return the key of a row about a port of this ASIC; of a chassis' `host|asic|port|3`, the last two parts.

    A key about ports of another host or ASIC has no effect here (sonic-swss orchagent/qosorch.cpp).
    """
    if not is_chassis_key(key):
        return key
    host, asic, remainder = key.split("|", 2)
    return remainder if (host, asic.lower()) == asic_key else ""


def _without_brackets(field: str) -> str:
    """Return a field with each of its references without brackets."""
    return ",".join(map(name_in_reference, field.split(",")))


def name_in_reference(reference: str) -> str:
    """Return the name in a reference: the reference itself, or `x` of the old `[TABLE|x]`."""
    bracket = _BRACKET_REFERENCE_PATTERN.fullmatch(reference)
    return bracket[2] if bracket else reference


def _is_text_table(table_rows: object) -> TypeGuard[dict[str, dict[str, str]]]:
    """Whether a table is what nearly all are: an object of objects of text."""
    try:
        return type(table_rows) is dict and {type(value) for row in table_rows.values() for value in row.values()} <= {
            str
        }
    except AttributeError:
        return False


def json_type_name(value: object) -> str:
    """Return the type of a JSON value, in words."""
    names = {dict: "an object", str: "a text", list: "a list", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _names_in_key(key: str) -> tuple[str, ...]:
    """Return the key of a row and its parts, but for numbers, which may be values too."""
    return tuple(dict.fromkeys((key, *(key_part for key_part in key.split("|") if not key_part.isdecimal()))))
