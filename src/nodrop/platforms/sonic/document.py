"""A SONiC configuration as JSON, written by any program: its tables, and the place of each in the text.

`config save` and `sonic-cfggen -d --print-data` write tables of rows; `show runningconfiguration all` adds FRR's
configuration, and is in a log with the prompt around it; a dump of the database has a key `TABLE|row` for each row.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property

from nodrop.errors import InputProblems, Problem
from nodrop.limits import MAX_PORTS_PER_SWITCH
from nodrop.model.reading import FilePlace
from nodrop.platforms.kit.secrets import mask_secret
from nodrop.platforms.sonic.tables import EMPTY_ROW_FIELD
from nodrop.syntax.json import DuplicateJsonKey, JsonPlaceLocator, duplicate_keys, parse_json_counting_keys
from nodrop.syntax.places import BYTE_ORDER_MARK, quote_text
from nodrop.syntax.shapes import mapping_at, value_at

CONFIG_DB_FILE = "config_db.json"
GOLDEN_FILE = "golden_config_db.json"
CONFIG_FILES = (CONFIG_DB_FILE, "init_cfg.json", "buffers.json", "qos.json", GOLDEN_FILE)
"""Files of tables that make up one device; the first is what a file of another name is read as."""

_FILES_IN_LOAD_ORDER = ("init_cfg.json", CONFIG_DB_FILE, "buffers.json", "qos.json", GOLDEN_FILE)
"""The order in which SONiC lays them over each other: `config load_minigraph` starts with init_cfg.json, `config qos
reload` adds buffers and QoS, the golden configuration replaces tables as a whole (sonic-utilities config/main.py)."""
_FILES_LOADED_AT_START = _FILES_IN_LOAD_ORDER[:2]

_NOT_LOADED_REASON = f"a switch starts with {CONFIG_DB_FILE}, not this file"
_LOAD_NOTE_BY_FILE = {
    "init_cfg.json": f"a switch starts with {CONFIG_DB_FILE} and the init_cfg.json of its image",
    "buffers.json": _NOT_LOADED_REASON,
    "qos.json": _NOT_LOADED_REASON,
    GOLDEN_FILE: "only `config load_minigraph --override_config` loads this file",
}
"""How a switch comes by files beside config_db.json. At boot it loads init_cfg.json and that over it, no other (sonic-
buildimage files/build_templates/docker_image_ctl.j2, files/image_config/config-setup)."""
LOCALHOST_PATH = ("DEVICE_METADATA", "localhost")
ROUTING_MODE_FIELD = "docker_routing_config_mode"
"""The field of LOCALHOST that says which files of FRR are kept; which file states it, starting.py knows."""

_RUNNING_FRR_KEY = "bgpraw"
"""What `show runningconfiguration all` adds: the output of vtysh (sonic-utilities show/main.py)."""
_HOST_NAMESPACE_KEY = "localhost"
_TABLE_NAME_PATTERN = re.compile(r"[A-Z][A-Z0-9_]*")
_ESSENTIAL_TABLES = ("DEVICE_METADATA", "PORT")
"""Tables of which a configuration has one at least."""
_MAX_KEYS_SHOWN_IN_ERROR = 4
"""How many keys of a file an error names."""
_ASIC_NAME_PATTERN = re.compile(r"asic[0-9]{1,3}")
_OPENING_BRACE_LINE = re.compile(rb"^\{", re.MULTILINE)
_NON_NEWLINE_PATTERN = re.compile(rb"[^\r\n]")

Tables = dict[str, object]
_EXPECTED_TABLES_ALONE = "tables alone: a switch loads nothing else from a file of this name"
_TERMINAL_CAPTURE_HINT = "what a terminal printed is read from a file of another name"


class TablesDocument:
    """One file of tables, opened; raises InputProblems, naming the file `display`, where it is no JSON object."""

    def __init__(self, name: str, raw: bytes, display: str, *, loaded: bool = False) -> None:
        """Open a file of tables; one that is `loaded` by a switch may be nothing else, as its own programs demand.

        They read it as Python's json.load does and leave out tables in lower case (sonic-buildimage sonic-cfggen).
        """
        self.name, self.display = name, display
        self.raw = blank_around_json(raw)
        if loaded and (raw != self.raw or raw.startswith(BYTE_ORDER_MARK.encode())):
            raise InputProblems([_problem_around_json(raw, self.raw, display)])
        data, self._counted = parse_json_counting_keys(self.raw, display)
        if not isinstance(data, dict):
            shape = "a list" if isinstance(data, list) else "a value"
            raise InputProblems([Problem(path=display, line=1, column=1, found=shape, expected="an object of tables")])
        self._base: tuple[str, ...] = ()
        self._dumped = False
        self.running_frr: str | None = None
        self.tables: Tables = self._unwrap_asic_tables(data)
        if loaded and (self._base or self._dumped):
            shape = "rows of a dump of the database" if self._dumped else f"tables below {_HOST_NAMESPACE_KEY}"
            problem = Problem(
                path=display,
                line=1,
                column=1,
                found=shape,
                expected=_EXPECTED_TABLES_ALONE,
                hint=_TERMINAL_CAPTURE_HINT,
            )
            raise InputProblems([problem])
        if (ports := len(mapping_at(self.tables, "PORT"))) > MAX_PORTS_PER_SWITCH:
            raise InputProblems(
                [Problem(path=display, found=f"{ports:,} ports", expected=f"at most {MAX_PORTS_PER_SWITCH:,}")]
            )

    def _unwrap_asic_tables(self, data: Tables) -> Tables:
        if _HOST_NAMESPACE_KEY in data and data.keys() - {_HOST_NAMESPACE_KEY} == {
            name for name in data if _ASIC_NAME_PATTERN.fullmatch(name)
        }:
            asics = sorted(data.keys() - {_HOST_NAMESPACE_KEY})
            if asics:
                shape, hint = (
                    f"the configurations of {_list_first_names(asics)}",
                    "save each ASIC's into a separate file",
                )
                problem = Problem(path=self.display, line=1, column=1, found=shape, expected="one ASIC's", hint=hint)
                raise InputProblems([problem])
            inner = data[_HOST_NAMESPACE_KEY]
            self._base, data = (_HOST_NAMESPACE_KEY,), inner if isinstance(inner, dict) else {}
        if wrapped := _keys_of_nested_configurations(data):
            keys = _list_first_names([quote_text(key) for key in wrapped])
            shape = f"no tables, but {'configurations' if len(wrapped) > 1 else 'a configuration'} under {keys}"
            hint = "save each configuration into a separate file"
            if len(wrapped) == 1:
                hint = f"save the object under {keys} as the file"
            problem = Problem(path=self.display, line=1, column=1, found=shape, expected="tables", hint=hint)
            raise InputProblems([problem])
        running = data.get(_RUNNING_FRR_KEY)
        if isinstance(running, str):
            self.running_frr = running
            data = {table: rows for table, rows in data.items() if table != _RUNNING_FRR_KEY}
        self._dumped = any("|" in key for key in data)
        if self._dumped and (tables := sorted(table for table, rows in data.items() if _is_table(table, rows))):
            shape = f"rows of a dump of the database beside tables ({tables[0]})"
            problem = Problem(path=self.display, line=1, column=1, found=shape, expected="tables, or a dump, not both")
            raise InputProblems([problem])
        return group_dump_by_table(data)

    @cached_property
    def locator(self) -> JsonPlaceLocator:
        """Places in the text."""
        return JsonPlaceLocator(self.raw)

    @property
    def frr_keys(self) -> tuple[str, ...]:
        """Where the text of FRR stands."""
        return (*self._base, _RUNNING_FRR_KEY)

    def place(self, keys: Sequence[str], *, exactly: bool = False) -> tuple[int, FilePlace] | None:
        """Return where the nearest existing part of (table, row, field) stands, and how much of it that is.

        That of a field is its value, else it is a key; with `exactly`, None unless all of it is there.
        """
        for length in range(len(keys), len(keys) - 1 if exactly else 0, -1):
            for path in self._candidate_paths(tuple(keys[:length])):
                span = self.locator.value_span(path) if length == 3 else self.locator.key_span(path)
                if span is not None:
                    return length, FilePlace(self.name, span)
        return None

    def _candidate_paths(self, keys: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """Return the paths at which (table, row, field) may stand."""
        if not self._dumped:
            return ((*self._base, *keys),)
        table, *row_path = keys
        if not row_path:
            first_key = next(iter(mapping_at(self.tables, table)), "")
            return ((*self._base, f"{table}|{first_key}"), (*self._base, table))
        row = (*self._base, f"{table}|{row_path[0]}")
        fields = [field for name in row_path[1:] for field in (name, f"{name}@")]
        if not fields:
            return (row, (*self._base, *keys))
        return tuple((*row, *inside, field) for field in fields for inside in ((), ("value",)))

    def duplicates(self) -> list[DuplicateJsonKey]:
        """Return the keys that stand twice in one object."""
        return duplicate_keys(self.raw, self._counted)

    def may_hold_invisible_characters(self) -> bool:
        """Whether the text may hold characters that are not seen."""
        raw = self.raw
        return (b"\\" in raw and b"\\u" in raw) or not raw.isascii() or b"\x7f" in raw


def merge_documents(documents: Sequence[TablesDocument]) -> Mapping[str, object]:
    """Return the tables with which a device starts, its files laid over each other as SONiC does it."""
    if len(documents) == 1:
        return documents[0].tables
    found_documents: Tables = {}
    for document in documents_at_start(documents):
        for table, rows in document.tables.items():
            under = found_documents.get(table)
            if document.name == GOLDEN_FILE or not isinstance(rows, dict) or not isinstance(under, dict):
                found_documents[table] = rows
            else:
                found_documents[table] = {
                    **under,
                    **{key: _merge_row(under.get(key), row) for key, row in rows.items()},
                }
    return found_documents


def open_documents(config_files: Mapping[str, bytes]) -> list[TablesDocument]:
    """Open a device's files of tables, given by canonical name; what cannot be read is left out."""
    documents = []
    for name in CONFIG_FILES:
        with suppress(InputProblems):
            documents += [TablesDocument(name, config_files[name], name)] if name in config_files else []
    return documents


def tables_not_in_config_db(config_files: Mapping[str, bytes]) -> dict[tuple[str, str], str]:
    """Return the tables that config_db.json alone does not state: (file, table), with how a switch gets them.

    A table for which the files together result in the same as config_db.json alone is not included.
    """
    if config_files.keys().isdisjoint(_LOAD_NOTE_BY_FILE) and not any(
        _RUNNING_FRR_KEY.encode() in raw for raw in config_files.values()
    ):
        return {}
    documents = open_documents(config_files)
    whole_documents, notes = merge_documents(documents), dict[tuple[str, str], str]()
    alone = next((file_document.tables for file_document in documents if file_document.name == CONFIG_DB_FILE), {})
    for document in documents_at_start(documents):
        if document.running_frr is not None:
            notes[document.name, _RUNNING_FRR_KEY] = (
                f"a switch starts with the files of FRR, and leaves out {_RUNNING_FRR_KEY}"
            )
        if document.name != CONFIG_DB_FILE:
            differ = (table for table in document.tables if whole_documents.get(table) != alone.get(table))
            notes |= {(document.name, table): _LOAD_NOTE_BY_FILE[document.name] for table in differ}
    return notes


def documents_at_start(documents: Sequence[TablesDocument]) -> list[TablesDocument]:
    """Return the documents with which a switch starts, the last the strongest.

    Without config_db.json nothing is known of a start: files of other names are parts of one configuration.
    """
    ordered = sorted(documents, key=lambda document: _FILES_IN_LOAD_ORDER.index(document.name))
    loaded = [document for document in ordered if document.name in _FILES_LOADED_AT_START]
    return loaded if any(document.name == CONFIG_DB_FILE for document in loaded) else ordered


def find_files_not_loaded_at_start(
    documents: Sequence[TablesDocument],
) -> Iterator[tuple[TablesDocument, str, list[tuple[str, ...]]]]:
    """Yield each file that a start leaves out, how a switch gets it, and the places that only this file states."""
    merged_tables, loaded = merge_documents(documents), documents_at_start(documents)
    for document in documents:
        if document not in loaded and (
            paths := [
                path
                for path in _paths_missing_or_different(document.tables, merged_tables)
                if path != (*LOCALHOST_PATH, ROUTING_MODE_FIELD)
            ]
        ):
            yield document, _LOAD_NOTE_BY_FILE[document.name], paths


def _paths_missing_or_different(stated: Tables, merged_tables: Mapping[str, object]) -> Iterator[tuple[str, ...]]:
    """Yield the rows, and fields of rows, that tables state and others do not, or state differently."""
    for table, rows in stated.items():
        merged_rows = mapping_at(merged_tables, table)
        for key, row in rows.items() if isinstance(rows, dict) else ():
            merged_row = merged_rows.get(key)
            if not isinstance(row, dict) or not isinstance(merged_row, dict):
                yield (table, key)
                continue
            for field, value in row.items():
                if field not in merged_row or _format_value(value) != _format_value(merged_row[field]):
                    yield (table, key, field)


def _format_value(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def find_place(
    documents: Sequence[TablesDocument], key_names: Sequence[str], *, exactly: bool = False
) -> FilePlace | None:
    """Return where the nearest existing part of a path stands, in the strongest of the files that a start loads."""
    best: tuple[int, FilePlace] | None = None
    for document in reversed(documents_at_start(documents)):
        found_place = document.place(key_names, exactly=exactly)
        if found_place is not None and (best is None or found_place[0] > best[0]):
            best = found_place
    return best and best[1]


def blank_around_json(file_content: bytes) -> bytes:
    """Return a text with blanks for what stands around its JSON: the prompt and command before, the prompt after."""
    text = file_content.removeprefix(BYTE_ORDER_MARK.encode())
    if text[:64].lstrip()[:1] not in (b"{", b"[") and (opening := _OPENING_BRACE_LINE.search(text)):
        file_content = text = _NON_NEWLINE_PATTERN.sub(b" ", text[: opening.start()]) + text[opening.start() :]
    if not text.rstrip().endswith((b"}", b"]")):
        end = max(text.rfind(b"\n}\n"), text.rfind(b"\n}\r")) + 2
        if end > 1 and b'"' not in text[end:]:
            return text[:end] + _NON_NEWLINE_PATTERN.sub(b" ", text[end:])
    return file_content


def _problem_around_json(file_content: bytes, alone: bytes, display: str) -> Problem:
    """Return the problem of text around JSON, at its first line."""
    if file_content.startswith(BYTE_ORDER_MARK.encode()):
        return Problem(path=display, line=1, column=1, found="a byte order mark", expected=_EXPECTED_TABLES_ALONE)
    lines = zip(file_content.split(b"\n"), alone.split(b"\n"), strict=True)
    number, line = next((number, raw_line) for number, (raw_line, other) in enumerate(lines, 1) if raw_line != other)
    text = quote_text(mask_secret(line.decode(errors="replace").strip()))
    return Problem(
        path=display, line=number, column=1, found=text, expected=_EXPECTED_TABLES_ALONE, hint=_TERMINAL_CAPTURE_HINT
    )


def _keys_of_nested_configurations(data: Tables) -> list[str]:
    """Return the keys of an object that has configurations where its tables belong; none of any other.

    Names of tables are in capitals, and a row of one that is named PORT is of counters (FLEX_COUNTER_TABLE); no table
    has a row named DEVICE_METADATA. A value that is no object is a comment.
    """
    keys = [key for key, value in data.items() if isinstance(value, dict)]
    return keys if all(_holds_configuration(data, key) for key in keys) else []


def _holds_configuration(data: Tables, key: str) -> bool:
    tables = _ESSENTIAL_TABLES[:1] if _TABLE_NAME_PATTERN.fullmatch(key) else _ESSENTIAL_TABLES
    return any(isinstance(value_at(data, key, table), dict) for table in tables)


def _list_first_names(names: Sequence[str]) -> str:
    """Return the first names, and how many there are beyond them."""
    remaining = len(names) - _MAX_KEYS_SHOWN_IN_ERROR
    return ", ".join(names[:_MAX_KEYS_SHOWN_IN_ERROR]) + (f" and {remaining:,} more" if remaining > 0 else "")


def _is_table(name: str, table_rows: object) -> bool:
    """Whether something in a file is a table as a configuration has it, not a row of a dump."""
    inner = (
        isinstance(table_rows, dict)
        and "type" not in table_rows
        and any(isinstance(row, dict) for row in table_rows.values())
    )
    return "|" not in name and inner


def group_dump_by_table(data: Tables) -> Tables:
    """Return the rows of a dump by table, and tables as they are.

    In a dump, the database marks lists by `@`, with commas between the values, and a row without fields by NULL
    (sonic-swss-common common/configdb.h, ConfigDBConnector.raw_to_typed).
    """
    if not any("|" in key for key in data):
        return data
    tables: Tables = {}
    for key, row in data.items():
        table, bar, name = key.partition("|")
        if not bar:
            tables[table] = row
            continue
        if isinstance(row, dict) and isinstance(row.get("value"), dict) and "type" in row:
            row = row["value"]
        if isinstance(row, dict):
            row = dict(_read_dumped_field(field, value) for field, value in row.items() if field != EMPTY_ROW_FIELD)
        rows = tables.setdefault(table, {})
        if isinstance(rows, dict):
            rows[name] = row
    return tables


def _read_dumped_field(field: str, value: object) -> tuple[str, object]:
    """Return a field of a dump as a configuration has it."""
    if not field.endswith("@"):
        return field, value
    return field.removesuffix("@"), [part for part in value.split(",") if part] if isinstance(value, str) else value


def spell_field_in_database(field: str, value: object) -> tuple[str, str]:
    """Return a field's name and value as the database has them: a list's name ends with @, its value has commas."""
    return (f"{field}@", ",".join(map(str, value))) if isinstance(value, list) else (field, str(value))


def _merge_row(under: object, row: object) -> object:
    return {**under, **row} if isinstance(under, dict) and isinstance(row, dict) else row
