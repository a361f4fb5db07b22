"""Access lists of Onyx: entries by number, ports and VLANs that name them, and where they stand."""

import pytest

from nodrop.model.access import AccessEntry, AccessList, Binding, PortRange
from nodrop.model.reading import DeviceReading, Source
from nodrop.model.states import UNKNOWN
from nodrop.platforms.onyx import reader
from nodrop.platforms.onyx.places import RUNNING_CONFIG_FILE, place_finder_for_files

TEXT = """\
dcb priority-flow-control enable force
interface ethernet 1/1 no switchport force
ipv4 access-list SITE
ipv4 access-list SITE bind-point rif
ipv4 access-list SITE seq-number 20 deny ip any any
ipv4 access-list SITE seq-number 15 deny tcp any any eq-source 179 ttl 5
ipv4 access-list SITE seq-number 10 permit udp 10.2.0.0 mask 255.255.0.0 any eq-destination 4791
interface ethernet 1/1 ipv4 port access-group SITE
interface vlan 7 ipv4 port access-group SITE
"""


def read(text: str) -> DeviceReading:
    source = Source(name=RUNNING_CONFIG_FILE, display=RUNNING_CONFIG_FILE)
    return reader.read_device("sw1", [(source, text.encode())])


def test_entries_go_by_number_and_unread_conditions_are_kept() -> None:
    assert read(TEXT).device.access_lists == (
        AccessList(
            name="SITE",
            family="ipv4",
            otherwise=UNKNOWN,
            entries=(
                AccessEntry(
                    name="10",
                    family="ipv4",
                    protocol=17,
                    sources=("10.2.0.0/16",),
                    destination_ports=(PortRange(4791, 4791),),
                ),
                AccessEntry(
                    name="15",
                    family="ipv4",
                    action="deny",
                    protocol=6,
                    source_ports=(PortRange(179, 179),),
                    others=("ttl 5",),
                ),
                AccessEntry(name="20", family="ipv4", action="deny"),
            ),
            bindings=(Binding(interface="Eth1/1", stage="ingress"), Binding(interface="VLAN 7", stage="ingress")),
        ),
    )


def test_entries_inside_the_list_say_the_same() -> None:
    inside = TEXT.replace("ipv4 access-list SITE seq-number", "  seq-number")
    assert read(inside).device.access_lists == read(TEXT).device.access_lists


def test_a_switch_without_lists_has_none() -> None:
    assert read("dcb priority-flow-control enable force\n").device.access_lists == ()


@pytest.mark.parametrize(("number", "line"), [("20", 5), ("15", 6), ("10", 7)])
def test_an_entry_stands_at_its_command(number: str, line: int) -> None:
    place = place_finder_for_files({RUNNING_CONFIG_FILE: TEXT.encode()})(
        ("sw1", "@access_lists", "SITE", "entries", number)
    )
    assert place is not None
    assert place.span.line == line
