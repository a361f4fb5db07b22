"""What files of hosts say of the ToS of storage: modprobe.d, `nvme connect`, discovery.conf, nvme-fabrics.conf."""

import pytest

from nodrop import platforms
from nodrop.model.nics import UNSET_TOS, Nic, value_or_none
from nodrop.model.reading import Source
from nodrop.platforms import hosts

FIELDS = ("nvme_rdma_tos", "nvme_tcp_tos", "lustre_o2ib_tos", "lustre_tcp_tos")


def said(text: str, name: str = "storage.conf") -> dict[tuple[str, str], int]:
    """Return what a file says, by the part of the file and the field."""
    assert hosts.has_nic_settings(text.encode())
    nics: tuple[Nic, ...] = hosts.read_host("gpu1", [(Source(name=name, display=name), text.encode())]).nics
    return {
        (nic.part, field): value for nic in nics for field in FIELDS if (value := value_or_none(nic, field)) is not None
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("options ko2iblnd tos=138\n", {"lustre_o2ib_tos": 138}),
        ("options ko2iblnd tos=0x8a peer_credits=32\n", {"lustre_o2ib_tos": 138}),
        ("options ko2iblnd peer_credits=32 \\\n  tos=138\n", {"lustre_o2ib_tos": 138}),
        ("options ko2iblnd tos=138\noptions ko2iblnd peer_credits=32\n", {"lustre_o2ib_tos": 138}),
        ("options ko2iblnd peer_credits=32\n", {"lustre_o2ib_tos": UNSET_TOS}),
        ("options ko2iblnd tos=-1\n", {"lustre_o2ib_tos": UNSET_TOS}),
        ("options ko2iblnd tos=256\noptions ksocklnd tos=40\n", {"lustre_o2ib_tos": UNSET_TOS, "lustre_tcp_tos": 40}),
        ("# options ko2iblnd tos=1\noptions lnet networks=o2ib0\noptions ksocklnd tos=40\n", {"lustre_tcp_tos": 40}),
    ],
)
def test_options_of_lustres_modules(text: str, expected: dict[str, int]) -> None:
    assert said(text) == {("", field): value for field, value in expected.items()}


@pytest.mark.parametrize(
    "text", ["options lnet networks=o2ib0\n", "options ko2iblnd-opa tos=1\n", "# options ko2iblnd\n"]
)
def test_options_of_other_modules_are_none_of_a_host(text: str) -> None:
    assert not hosts.has_nic_settings(text.encode())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nvme connect -t rdma -a 10.0.0.1 -n nqn.a --tos=138\n", {("10.0.0.1", "nvme_rdma_tos"): 138}),
        ("nvme connect -t tcp -a 10.0.0.1 -s 4420 -n nqn.a -T 40\n", {("10.0.0.1", "nvme_tcp_tos"): 40}),
        ("nvme connect-all --transport tcp --traddr 10.0.0.1 --tos 300\n", {("10.0.0.1", "nvme_tcp_tos"): 255}),
        ("sudo nvme connect -ttcp -a10.0.0.1 -n nqn.a\n", {("10.0.0.1", "nvme_tcp_tos"): UNSET_TOS}),
        ("TOS=138\nnvme connect -t rdma -a $HOST -T $TOS\n", {("", "nvme_rdma_tos"): 138}),
        ("nvme connect -t rdma -a 10.0.0.1 -T $1\n", {}),
        ("nvme connect -t fc -a nn-0x1 -T 1\nnvme connect -t tcp -a a -T 2\n", {("a", "nvme_tcp_tos"): 2}),
        ("# nvme connect -t tcp -a a\nnvme connect -t rdma -a b\n", {("b", "nvme_rdma_tos"): UNSET_TOS}),
        ("nvme list -v\nnvme connect -t rdma -a b -T 2\n", {("b", "nvme_rdma_tos"): 2}),
    ],
)
def test_connections_of_scripts(text: str, expected: dict[tuple[str, str], int]) -> None:
    assert said(text, "connect.sh") == expected


def test_discovery_conf_holds_arguments_of_connections() -> None:
    text = "# --transport=tcp --traddr=1\n--transport=rdma --traddr=10.0.0.1 --tos=138\n-a 10.0.0.2 -t tcp -s 8009\n"
    assert said(text, "discovery.conf") == {("10.0.0.1", "nvme_rdma_tos"): 138, ("10.0.0.2", "nvme_tcp_tos"): UNSET_TOS}


def test_a_controller_overrides_its_subsystem_that_the_host_and_that_the_defaults() -> None:
    text = """\
[I/O Controller Defaults]
tos = 4
[Discovery Controller]
controller = transport=tcp;traddr=10.0.0.9;tos=12
[Subsystem]
nqn = nqn.a
controller = transport=tcp;traddr=10.0.0.1
[Subsystem]
tos = 40
controller = transport=tcp;traddr=10.0.0.2
controller = transport=rdma;traddr=10.0.0.3;tos=138
[Subsystem]
tos =
controller = transport=tcp;traddr=10.0.0.4
"""
    rest = {
        ("10.0.0.2", "nvme_tcp_tos"): 40,
        ("10.0.0.3", "nvme_rdma_tos"): 138,
        ("10.0.0.4", "nvme_tcp_tos"): UNSET_TOS,
    }
    assert said(text, "nvme-fabrics.conf") == {("10.0.0.1", "nvme_tcp_tos"): 4, **rest}
    assert said(f"[Host]\ntos = 8\n{text}")["10.0.0.1", "nvme_tcp_tos"] == 8


def test_a_connection_has_the_place_of_its_line() -> None:
    text = b"#!/bin/sh\nnvme connect -t tcp -a 10.0.0.1 -n nqn.a\n"
    place = platforms.make_place_finder(platforms.HOSTS_PLATFORM, {"a.sh": text})(
        ("gpu1", "a.sh", "10.0.0.1", "nvme_tcp_tos")
    )
    assert place is not None
    assert place.span is not None
    assert place.span.line == 2
