from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from nodrop.engine.finding import FileLocation, Finding, Fix, RelatedPart
from nodrop.locate import _LinesWithoutSecrets, add_finding_places
from nodrop.model.change import Change
from nodrop.model.fabric import Device, End, Fabric, Interface, Link
from nodrop.model.qos import QosProfile, Queue, Scheduler
from nodrop.model.reading import FilePlace, Note, Reading, Source
from nodrop.model.subject import Subject, link_subject, parse_subject, subject_text
from nodrop.syntax.places import Span

TEXT = "leaf\nEthernet0 mtu 9216\nEthernet8 mtu 1500\n"


class Words:
    """A platform whose subjects stand where their last part first stands as a word; counts what it is asked to read."""

    def __init__(self) -> None:
        self.loads: list[tuple[str, tuple[str, ...]]] = []

    def __call__(self, platform: str, texts: Mapping[str, bytes]) -> Callable[[Subject], FilePlace | None]:
        self.loads.append((platform, tuple(texts)))
        return lambda subject: next(self._places(subject[-1], texts), None)

    def _places(self, word: str, texts: Mapping[str, bytes]) -> Any:
        for file, raw in texts.items():
            for number, line in enumerate(raw.decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n"), 1):
                if word in line.split():
                    column = line.index(word) + 1
                    yield FilePlace(file, Span(number, column, number, column + len(word)))


def held(text: str | bytes = TEXT, name: str = "config_db.json", folder: str = "leaf1") -> Source:
    return Source(name=name, display=f"{folder}/{name}", held=text.encode() if isinstance(text, str) else text)


def reading(*, links: tuple[Link, ...] = (), **sources: tuple[Source, ...]) -> Reading:
    devices = tuple(Device(name=name, platform="sonic") for name in sources)
    return Reading(fabric=Fabric(name="f", mode="lossless", devices=devices, links=links), sources=sources)


def finding(at: str, **other: Any) -> Finding:
    parts = parse_subject(at)
    facts: dict[str, Any] = {
        "rule": "rule",
        "severity": "error",
        "confidence": "certain",
        "message": "message",
        "subject": parts,
        "at": parts,
        "device": None if parts[0] == "@fabric" else parts[0],
        "group": "group",
        "fingerprint": "fingerprint",
    }
    return Finding(**facts | other)


def place(file: str, line: int, column: int, end_column: int) -> FileLocation:
    return FileLocation(file=file, span=Span(line, column, line, end_column))


@pytest.mark.parametrize(
    ("at", "located"),
    [
        ("leaf1/Ethernet8", place("leaf1/config_db.json", 3, 1, 10)),
        ("leaf1/Ethernet8/mtu", place("leaf1/config_db.json", 2, 11, 14)),
        ("leaf1/Ethernet8/qos/pfc_priorities", place("leaf1/config_db.json", 3, 1, 10)),
        ("leaf1/Ethernet16", FileLocation(file="leaf1/config_db.json", span=None)),
    ],
)
def test_a_finding_stands_where_the_nearest_part_with_a_place_does(at: str, located: FileLocation) -> None:
    pointed = add_finding_places([finding(at)], reading(leaf1=(held(),)), Words())
    assert [each.located for each in pointed.findings] == [located]
    assert pointed.notes == ()


def test_at_is_looked_up_not_the_subject() -> None:
    one = finding("leaf1/Ethernet8", subject=("leaf1", "Ethernet0"))
    assert add_finding_places([one], reading(leaf1=(held(),)), Words()).findings[0].located == place(
        "leaf1/config_db.json", 3, 1, 10
    )


def test_the_device_itself_is_the_last_ancestor() -> None:
    sources = (held("hostname leaf1\n", "frr.conf"), held())
    (one,) = add_finding_places([finding("leaf1/Ethernet16/mtu16")], reading(leaf1=sources), Words()).findings
    assert one.located == place("leaf1/frr.conf", 1, 10, 15)


def test_of_several_files_none_is_guessed() -> None:
    sources = (held("", "frr.conf"), held())
    assert (
        add_finding_places([finding("leaf1/Ethernet16")], reading(leaf1=sources), Words()).findings[0].located is None
    )


def test_related_parts_have_places_too() -> None:
    related = (
        RelatedPart(subject=("leaf2", "Ethernet0"), message="the other end"),
        RelatedPart(subject=("host1", "eth0"), message="a host"),
    )
    sources = reading(leaf1=(held(),), leaf2=(held(folder="leaf2"),))
    pointed = add_finding_places([finding("leaf1/Ethernet8", related=related)], sources, Words())
    assert [each.located for each in pointed.findings[0].related] == [
        place("leaf2/config_db.json", 2, 1, 10),
        None,
    ]
    assert pointed.line("leaf2/config_db.json", 2) == "Ethernet0 mtu 9216"


@pytest.mark.parametrize(
    ("read", "located"),
    [
        (("leaf1", "leaf2"), place("leaf1/config_db.json", 3, 1, 10)),
        (("leaf2",), place("leaf2/config_db.json", 2, 1, 10)),
        (("leaf3",), None),
    ],
)
def test_a_link_stands_at_the_end_that_was_read(read: tuple[str, ...], located: FileLocation | None) -> None:
    cable = Link(a=End("leaf1", "Ethernet8"), b=End("leaf2", "Ethernet0"))
    sources = reading(links=(cable,), **{name: (held(folder=name),) for name in read})
    one = finding(subject_text(link_subject(cable.a, cable.b)))
    assert add_finding_places([one], sources, Words()).findings[0].located == located


def test_what_is_on_no_device_stands_on_the_device_of_the_finding() -> None:
    sources = reading(leaf1=(held("hostname leaf1\n"),))
    on_leaf1, nowhere = finding("@fabric/classes/rdma", device="leaf1"), finding("@fabric/classes/rdma")
    located = [each.located for each in add_finding_places([on_leaf1, nowhere], sources, Words()).findings]
    assert located == [place("leaf1/config_db.json", 1, 10, 15), None]


def test_only_devices_with_findings_are_loaded_and_each_of_them_once() -> None:
    words = Words()
    sources = reading(**{f"leaf{number}": (held(folder=f"leaf{number}"),) for number in range(1, 6)})
    related = (RelatedPart(subject=("leaf4",), message="also"),)
    findings = [finding(f"leaf{number}/Ethernet{port}") for port in (0, 8) for number in (2, 4)]
    add_finding_places([*findings, finding("leaf2/Ethernet0", related=related)], sources, words)
    assert words.loads == [("sonic", ("config_db.json",))] * 2
    add_finding_places([], sources, words)
    assert len(words.loads) == 2


def test_no_file_is_opened_but_those_of_devices_with_findings(tmp_path: Path) -> None:
    sources = reading(leaf1=(on_disk(tmp_path / "a"),), leaf2=(missing(tmp_path),))
    pointed = add_finding_places([finding("leaf1/Ethernet0")], sources, Words())
    assert (pointed.notes, pointed.findings[0].located) == ((), place("shown/a", 2, 1, 10))


def test_only_some_findings_can_be_looked_up() -> None:
    words = Words()
    sources = reading(leaf1=(held(),), leaf2=(held(folder="leaf2"),))
    first, second = finding("leaf1/Ethernet0"), finding("leaf2/Ethernet0")
    pointed = add_finding_places([first, second], sources, words, only=[second])
    assert pointed.findings[0] is first
    assert pointed.findings[1].located == place("leaf2/config_db.json", 2, 1, 10)
    assert len(words.loads) == 1


def test_a_place_that_is_known_already_is_kept_and_gets_its_line() -> None:
    words = Words()
    elsewhere = place("rules/ours.yaml", 1, 1, 2)
    findings = [
        finding("leaf1/@text", located=place("leaf1/config_db.json", 1, 1, 5)),
        finding("leaf1", located=elsewhere),
    ]
    pointed = add_finding_places(findings, reading(leaf1=(held(),)), words)
    assert pointed.findings == tuple(findings)
    assert pointed.line("leaf1/config_db.json", 1) == "leaf"


def on_disk(file: Path, **other: Any) -> Source:
    file.write_bytes(TEXT.encode())
    digest = blake2b(TEXT.encode(), digest_size=16).hexdigest()
    return Source(**{"name": file.name, "display": f"shown/{file.name}", "path": file, "digest": digest} | other)


def missing(folder: Path) -> Source:
    return Source(name="gone", display="shown/gone", path=folder / "gone", digest="")


def lost(source: Source) -> tuple[tuple[Finding, ...], tuple[Note, ...], str | None]:
    known = finding("leaf1", located=place(source.display, 1, 1, 5))
    pointed = add_finding_places([finding("leaf1/Ethernet0"), known], reading(leaf1=(source,)), Words())
    return pointed.findings, pointed.notes, pointed.line(source.display, 1)


@pytest.mark.parametrize(
    ("make", "name", "why"),
    [
        (lambda folder: on_disk(folder / "a", digest="0" * 32), "a", "changed since it was read"),
        (lambda folder: on_disk(folder / "a", digest=""), "a", "changed since it was read"),
        (missing, "gone", "no such file or directory"),
        (lambda folder: on_disk(folder / "a", path=folder), "a", "a folder"),
        (lambda folder: on_disk(folder / "a", path=None), "a", "not kept since it was read"),
    ],
)
def test_a_source_that_is_not_what_was_read_gives_a_note_and_no_place(
    tmp_path: Path, make: Callable[[Path], Source], name: str, why: str
) -> None:
    findings, notes, line = lost(make(tmp_path))
    assert [each.located for each in findings] == [None, None]
    assert line is None
    assert notes == (
        Note(
            kind="lost-place",
            message=f"{why}; what was found in it has no place",
            device="leaf1",
            file=f"shown/{name}",
        ),
    )


def test_the_other_files_of_a_device_keep_their_places(tmp_path: Path) -> None:
    words = Words()
    sources = (missing(tmp_path), on_disk(tmp_path / "frr.conf"))
    pointed = add_finding_places(
        [finding("leaf1/Ethernet0"), finding("leaf1/Ethernet99")], reading(leaf1=sources), words
    )
    assert [each.located for each in pointed.findings] == [place("shown/frr.conf", 2, 1, 10), None]
    assert words.loads == [("sonic", ("frr.conf",))]


def test_a_file_is_read_once_for_places_and_lines(tmp_path: Path) -> None:
    source = on_disk(tmp_path / "a")
    pointed = add_finding_places(
        [finding("leaf1/Ethernet0"), finding("leaf1/Ethernet8")], reading(leaf1=(source,)), Words()
    )
    (tmp_path / "a").unlink()
    assert [pointed.line("shown/a", line) for line in (1, 2, 3, 4)] == [
        None,
        "Ethernet0 mtu 9216",
        "Ethernet8 mtu 1500",
        None,
    ]
    assert pointed.line("a", 2) is None


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"\r\nEthernet0 1\r\n", "Ethernet0 1"),
        (b"\nEthernet0 1", "Ethernet0 1"),
        (b"\xef\xbb\xbf\nEthernet0 \xe7\x95\x8c\n", "Ethernet0 界"),
        (b"\nEthernet0 \xff\n", "Ethernet0 \udcff"),
        ("\nEthernet0 a\u2028b\x0bc\x85d\n".encode(), "Ethernet0 a\u2028b\x0bc\x85d"),
    ],
)
def test_lines_are_counted_as_places_count_them(raw: bytes, line: str) -> None:
    pointed = add_finding_places([finding("leaf1/Ethernet0")], reading(leaf1=(held(raw),)), Words())
    assert pointed.line("leaf1/config_db.json", 2) == line


def test_a_place_beyond_the_text_has_no_line() -> None:
    known = finding("leaf1", located=place("leaf1/config_db.json", 99, 1, 2))
    pointed = add_finding_places([known], reading(leaf1=(held(),)), Words())
    assert pointed.findings == (known,)
    assert pointed.line("leaf1/config_db.json", 99) is None


def test_a_line_that_many_findings_stand_on_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    monkeypatch.setattr("nodrop.locate.looks_like_secret", lambda text: looked.append(text) or "password" in text)
    lines = _LinesWithoutSecrets({"a": b"one\npassword x"}, ())
    assert [lines.get("a", line) for line in (1, 1, 2, 2, 3)] == ["one", "one", None, None, None]
    assert looked == ["one", "password x"]


def shared_rows(sick: str) -> tuple[Reading, Callable[..., Callable[[Subject], FilePlace | None]]]:
    """Three ports of one side: two use a profile at line 9, `sick` the one at line 5, which a queue of each has too."""
    deep, shallow = Scheduler(type="dwrr", weight=60), Scheduler(type="dwrr", weight=5)

    def port(name: str) -> Interface:
        queues = (Queue(index=1, scheduler=shallow), Queue(index=3, scheduler=shallow if name == sick else deep))
        return Interface(name=name, side="host", qos=QosProfile(trust="dscp", queues=queues))

    device = Device(name="leaf1", platform="sonic", interfaces=tuple(map(port, ("e0", "e1", "e2"))))
    fabric = Fabric(name="f", mode="lossless", devices=(device,))

    def where(_platform: str, _sources: Mapping[str, bytes]) -> Callable[[Subject], FilePlace | None]:
        def find(part: Subject) -> FilePlace | None:
            match part[1:]:
                case (name, "qos", "queues", index, "scheduler", "weight"):
                    line = 5 if index == "1" or name == sick else 9
                case (name, "qos", "queues", index, "scheduler"):
                    line = 10 + 10 * int(name[1:]) + int(index)
                case _:
                    return None
            return FilePlace("config_db.json", Span(line, 1, line, 2))

        return find

    return Reading(fabric=fabric, sources={"leaf1": (held("x\n" * 40),)}), where


def test_one_port_with_a_row_that_is_right_for_others_is_pointed_at_where_it_names_the_row() -> None:
    read, where = shared_rows("e1")
    (one,) = add_finding_places([finding("leaf1/e1/qos/queues/3/scheduler/weight")], read, where).findings
    assert one.located is not None
    assert one.located.span == Span(23, 1, 23, 2)


def test_a_row_that_is_wrong_for_all_its_ports_is_pointed_at_itself() -> None:
    read, where = shared_rows("e1")
    every = [finding(f"leaf1/{name}/qos/queues/3/scheduler/weight") for name in ("e0", "e1", "e2")]
    lines = [
        one.located and one.located.span and one.located.span.line
        for one in add_finding_places(every, read, where).findings
    ]
    assert lines == [9, 5, 9]


def test_a_cable_is_pointed_at_where_its_fix_changes_an_end() -> None:
    ends = (Link(a=End("leaf1", "Ethernet0"), b=End("leaf2", "Ethernet0")),)
    subject = ("@fabric", "links", "leaf1:Ethernet0--leaf2:Ethernet0")
    change = Change(subject=("leaf2", "Ethernet8", "mtu"), old=1500, new=9100)
    one = finding("leaf1/Ethernet8/mtu", subject=subject, fix=Fix(text="same MTU", changes=(change,)))
    both = reading(links=ends, leaf1=(held(),), leaf2=(held(folder="leaf2"),))
    assert add_finding_places([one], both, Words()).findings[0].located == place("leaf2/config_db.json", 2, 11, 14)
