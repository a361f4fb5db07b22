"""What an intent was built into is found again by its text, and by nothing else."""

import os
import shutil
from pathlib import Path

import pytest

import nodrop
from nodrop import built_cache, cache, fabric_readings
from nodrop.cache import Store
from nodrop.inputs import FileText
from nodrop.intent.schema import Intent
from nodrop.judging import CheckSettings
from nodrop.model.compare import differences
from nodrop.model.fabric import Fabric
from nodrop.model.reading import Reading
from nodrop.resources import resource_folder

INTENT = (resource_folder("intents") / "two-by-two.yaml").read_bytes()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    return Store(folder, b"this nodrop", b"secret" * 5 + b"ab")


def text(raw: bytes = INTENT, display: str = "intent.yaml") -> FileText:
    return FileText(display=display, held=raw)


def read(store: Store | None, source: FileText) -> Reading:
    return fabric_readings.read_fabric_or_intent(source, CheckSettings(store=store))


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The fabrics that are built, by name."""
    names: list[str] = []
    build = nodrop.build

    def counted(intent: Intent) -> Fabric:
        fabric = build(intent)
        names.append(fabric.name)
        return fabric

    monkeypatch.setattr(nodrop, "build", counted)
    return names


def same(one: Reading, other: Reading) -> bool:
    assert not list(differences(one.fabric, other.fabric, whole_lists=True))
    fields = ("sources", "remarks", "notes", "problems", "derived", "assumed", "possible", "allowed", "written")
    return all(getattr(one, field) == getattr(other, field) for field in fields)


def test_an_intent_is_built_once(store: Store, built: list[str]) -> None:
    plain = read(None, text())
    readings = [read(store, text()), read(store, text())]
    assert len(built) == 2
    assert all(same(plain, reading) for reading in readings)
    assert plain.decided is not None
    assert readings[1].decided is not None
    at = ("leaf1", "Ethernet0", "qos")
    assert readings[1].decided(at) == plain.decided(at)


def test_another_text_or_name_or_nodrop_is_built_again(store: Store, built: list[str]) -> None:
    read(store, text())
    read(store, text(INTENT.replace(b"min: 150kB", b"min: 160kB")))
    assert len(built) == 2
    read(store, text(display="other.yaml"))
    assert len(built) == 3
    read(Store(store.folder, b"another nodrop", store.seal), text())
    assert len(built) == 4
    read(Store(store.folder, store.code, b"another secret" * 2 + b"abcd"), text())
    assert len(built) == 5


def test_a_sheet_of_cables_counts(store: Store) -> None:
    class OfSheet:
        text = "nodrop: 1"
        sheet_file: object = None
        extra: object = None

    class Sheet:
        def __init__(self, path: str, content: bytes) -> None:
            self.path, self.content = path, content

    keys = set()
    for sheet in (None, Sheet("a.csv", b"x"), Sheet("a.csv", b"y"), Sheet("b.csv", b"x")):
        intent = OfSheet()
        intent.sheet_file = sheet
        keys |= {built_cache.key_of_intent(store, kind, intent, "i") for kind in ("built", "switches")}  # type: ignore[arg-type]
    assert len(keys) == 8
    intent.text = ""
    assert built_cache.key_of_intent(store, "built", intent, "i") is None  # type: ignore[arg-type]


def test_templates_are_part_of_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = cache.code_digest()
    copy = shutil.copytree(resource_folder("templates"), tmp_path / "templates")
    template = next(path for path in sorted(copy.rglob("*")) if path.is_file())
    template.write_bytes(template.read_bytes() + b"\n")
    monkeypatch.setattr(cache, "resource_folder", lambda name: copy if name == "templates" else resource_folder(name))
    cache.code_digest.cache_clear()
    assert cache.code_digest() != now
    cache.code_digest.cache_clear()


@pytest.mark.parametrize(
    "entry",
    [
        b"",
        b"[]",
        built_cache._PACKER.pack(((), (), ())),
        built_cache._PACKER.pack(("leaf1",)),
        built_cache._PACKER.pack((("leaf1",), ("leaf1",), ((("config_db.json", "x"),),))),
    ],
    ids=["nothing", "list", "no files", "one text", "texts"],
)
def test_an_entry_that_says_something_else_is_built_again(store: Store, built: list[str], entry: bytes) -> None:
    plain = read(store, text())
    intent = fabric_readings.read_intent(text())[1]
    for kind in ("built", "switches"):
        key = built_cache.key_of_intent(store, kind, intent, "intent.yaml")  # type: ignore[arg-type]
        assert key is not None
        if kind == "built":
            assert store.has(key)
        store.put(key, entry if kind == "built" else built_cache._PACKER.pack((1, 2)))
    assert same(read(store, text()), plain)
    assert fabric_readings.switch_names_of_intent(text(), store) >= {"leaf1", "spine2"}


def test_names_of_switches_are_found_without_building(store: Store, built: list[str]) -> None:
    names = fabric_readings.switch_names_of_intent(text(), store)
    assert fabric_readings.switch_names_of_intent(text(), store) == names == {"leaf1", "leaf2", "spine1", "spine2"}
    assert len(built) == 1
    assert fabric_readings.switch_names_of_intent(text(), None) == names
    assert len(built) == 2


def test_what_extra_adds_is_not_kept(store: Store, built: list[str]) -> None:
    """It may be a secret: a community of SNMP, a key of TACACS+."""
    extra = b"extra: {leaf1: {tables: {TACPLUS: {global: {passkey: s3cr3t}}}}}\n"
    for _ in range(2):
        assert b"s3cr3t" in b"".join(one.held or b"" for one in read(store, text(INTENT + extra)).sources["leaf1"])
    assert len(built) == 2
    assert os.listdir(store.folder) == []  # noqa: PTH208 -- names alone


def test_what_is_very_large_is_not_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(built_cache, "MAX_BUILT_CHARACTERS", 1000)
    read(store, text())
    assert os.listdir(store.folder) == []  # noqa: PTH208 -- names alone
