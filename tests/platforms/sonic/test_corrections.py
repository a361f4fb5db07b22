"""What a file determines of its own faults is looked up once, however many faults there are."""

from collections.abc import Callable
from typing import Any

import pytest

from nodrop.platforms.sonic import read_faults
from support import sonic_faults as faulty

PORT = "Ethernet0"
COUNT = 50


@pytest.fixture
def count_calls(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[tuple[Any, ...]]]:
    """Record the arguments of each call of a function that `read_faults` uses."""

    def record(name: str) -> list[tuple[Any, ...]]:
        calls: list[tuple[Any, ...]] = []
        function = getattr(read_faults, name)

        def recorded(*args: Any) -> Any:
            calls.append(args)
            return function(*args)

        monkeypatch.setattr(read_faults, name, recorded)
        return calls

    return record


def test_rows_are_read_once_for_all_profiles_with_a_fault(
    count_calls: Callable[[str], list[tuple[Any, ...]]],
) -> None:
    calls = count_calls("index_parts_by_profile")
    profiles = {("BUFFER_PROFILE", f"p{n}"): {"pool": "ingress_lossless_pool", "size": "0"} for n in range(COUNT)}
    _, reading = faulty.read({**profiles, ("BUFFER_PG", f"{PORT}|6"): {"profile": "p7"}})
    remarks = [remark for remark in reading.remarks if remark.kind == "profile-without-one-threshold"]
    assert [remark.facts["name"] for remark in remarks] == [f"p{number}" for number in range(COUNT)]
    parts = {remark.facts["name"]: remark.remedy.parts for remark in remarks if remark.remedy.parts}
    assert parts == {"p7": ((PORT, "qos", "priority_groups", "6", "buffer"),)}
    assert [args[1:] for args in calls] == [("profile", "BUFFER_PG", "BUFFER_QUEUE")]


def test_nothing_is_looked_up_where_nothing_is_wrong(count_calls: Callable[[str], list[tuple[Any, ...]]]) -> None:
    calls = [count_calls("index_parts_by_profile"), count_calls("lane_corrections")]
    faulty.read({})
    assert calls == [[], []]


def test_lanes_of_a_port_are_looked_up_once_however_many_are_shared(
    count_calls: Callable[[str], list[tuple[Any, ...]]],
) -> None:
    calls = count_calls("lane_corrections")
    lanes = ",".join(str(lane) for lane in range(1000, 1000 + COUNT))
    _, reading = faulty.read({("PORT", PORT, "lanes"): lanes, ("PORT", "Ethernet8", "lanes"): lanes})
    remarks = [remark for remark in reading.remarks if remark.kind == "lane-of-two-ports"]
    assert [remark.facts["lane"] for remark in remarks] == lanes.split(",")
    assert [name for _, name in calls] == ["Ethernet8"]


@pytest.mark.parametrize(
    ("others", "added"),
    [
        ({}, ["Ethernet0|5", "Ethernet8|5"]),
        ({"Ethernet8|5": {"scheduler": "scheduler.0"}}, ["Ethernet0|5"]),
        ({"Ethernet8|5": {"scheduler": "scheduler.1"}}, None),
    ],
)
def test_a_list_of_ports_becomes_a_row_for_each_port_unless_one_has_another(
    others: dict[str, dict[str, str]], added: list[str] | None
) -> None:
    rows = {"Ethernet0,Ethernet8|5": {"scheduler": "scheduler.0"}, **others}
    _, reading = faulty.read({("QUEUE", key): row for key, row in rows.items()})
    (remark,) = (remark for remark in reading.remarks if remark.kind == "comma-port-list")
    table = ("@document", "QUEUE")
    removed = [((*table, "Ethernet0,Ethernet8|5", "scheduler"), "scheduler.0", None)]
    written = [((*table, key, "scheduler"), None, "scheduler.0") for key in added or ()]
    assert [tuple(row) for row in remark.remedy.corrections] == ([] if added is None else [*removed, *written])
