"""The words about where classes land, and the analyses of maps along a path, where the rules' examples do not reach."""

from dataclasses import replace

import pytest

from nodrop.analyses import class_landings, ignored_marks
from nodrop.engine.vocabulary import classes, qos
from nodrop.model.bridging import PortChannel, Vlan, VlanMember
from nodrop.model.fabric import Fabric, TrafficClass, Trimming
from nodrop.model.index import Index
from nodrop.model.nics import Nic
from nodrop.model.qos import QosProfile
from nodrop.model.routing import Bgp
from nodrop.model.states import UNKNOWN
from support.small_fabrics import LOSSLESS, device, fabric, port, two_leaves

CLASSES = (
    TrafficClass(name="rdma", purpose="rdma", dscp=(26,), tc=3, lossless=True),
    TrafficClass(name="cnp", purpose="cnp", dscp=(48,), tc=6, lossless=False),
    TrafficClass(name="storage", purpose="storage", dscp=(10,), tc=2, lossless=False),
    TrafficClass(name="control", purpose="control", dscp=(56,), tc=7, lossless=False),
)
FABRIC = fabric(classes=CLASSES)
LOSSY = fabric(mode="lossy", classes=(replace(CLASSES[0], lossless=False), *CLASSES[1:]))
MAPPED = replace(
    LOSSLESS,
    dscp_to_tc=tuple({10: 2, 26: 3, 48: 6, 56: 7}.get(dscp, 0) for dscp in range(64)),
    tc_to_queue=(*range(8), *[None] * 8),
    tc_to_priority_group=(0, 0, 0, 3, 0, 0, 0, 0, *[None] * 8),
)


def landing(**at: int | None) -> QosProfile:
    table = {int(dscp[1:]): tc for dscp, tc in at.items()}
    return replace(MAPPED, dscp_to_tc=tuple(table.get(d, tc) for d, tc in enumerate(MAPPED.dscp_to_tc or ())))


def test_maps_that_a_port_with_pfc_lacks() -> None:
    bare = replace(MAPPED, dscp_to_tc=None, tc_to_queue=None, tc_to_priority_group=None)
    assert classes.missing_qos_maps(MAPPED) == classes.missing_qos_maps(None) == ""
    assert classes.missing_qos_maps(bare) == (
        "no DSCP map (all packets land in traffic class 0), "
        "and no map to priority groups (all packets use group 0), "
        "and no map to queues (all packets use queue 0)"
    )
    assert classes.missing_qos_maps(replace(bare, pfc_rx_priorities=(), pfc_tx_priorities=())) == ""
    obeying = replace(MAPPED, tc_to_queue=None, pfc_tx_priorities=())
    assert classes.missing_qos_maps(obeying) == "no map to queues (all packets use queue 0)"
    assert classes.missing_qos_maps(replace(MAPPED, dscp_to_tc=None, pcp_to_tc=tuple(range(8)))) == ""


def test_dscps_that_a_map_leaves_out() -> None:
    assert classes.unmapped_dscps(FABRIC, landing(d40=None, d41=None)) == (40, 41)
    assert classes.unmapped_dscps(FABRIC, landing(d26=None, d48=None)) == ()
    assert classes.unmapped_dscps(LOSSY, landing(d26=None)) == (26,)
    assert classes.unmapped_dscps(FABRIC, landing(d0=3, d48=None)) == (48,)
    assert classes.unmapped_dscps(FABRIC, replace(MAPPED, dscp_to_tc=None)) == ()


@pytest.mark.parametrize(
    ("of", "tc", "rest", "bulk", "company"),
    [
        (FABRIC, 6, (), (), ()),
        (FABRIC, 0, (48,), (), ()),
        (FABRIC, 2, (), (48,), ("storage",)),
        (FABRIC, 3, (), (), ()),
        (LOSSY, 3, (), (), ()),
        (FABRIC, 7, (), (), ()),
    ],
)
def test_what_cnps_share_their_queue_with(
    of: Fabric, tc: int, rest: tuple[int, ...], bulk: tuple[int, ...], company: tuple[str, ...]
) -> None:
    qos = landing(d48=tc)
    found = (
        classes.cnp_dscps_in_default_queue(of, qos),
        classes.cnp_dscps_in_bulk_queue(of, qos),
        classes.classes_in_queue_of_cnps(of, qos),
    )
    assert found == (rest, bulk, company)


def test_cnps_share_with_rdma_where_that_is_lossy() -> None:
    qos = replace(landing(d48=3), pfc_rx_priorities=(), pfc_tx_priorities=())
    assert classes.classes_in_queue_of_cnps(LOSSY, qos) == ("rdma",)


def test_cnps_of_dscp_0_are_what_nobody_marks_themselves() -> None:
    of = fabric(classes=(replace(CLASSES[1], dscp=(0,)),))
    assert classes.cnp_dscps_in_default_queue(of, MAPPED) == ()


def test_dscps_that_are_sent_on_as_another() -> None:
    table = (0, 8, 10, 34, *range(32, 64, 8), *[None] * 8)
    rewriting = replace(MAPPED, tc_to_dscp=table)
    assert classes.rewritten_dscps(FABRIC, None, MAPPED) == ""
    assert classes.rewritten_dscps(FABRIC, None, rewriting) == "26 to 34"
    trims = Trimming(size_bytes=256, dscp="from-tc", tc=None, queue=6)
    assert classes.rewritten_dscps(FABRIC, trims, rewriting) == ""
    assert classes.rewritten_dscps(FABRIC, replace(trims, dscp=11), rewriting) == "26 to 34"
    assert classes.rewritten_dscps(FABRIC, UNKNOWN, rewriting) == "26 to 34"
    unstated = replace(MAPPED, tc_to_dscp=(0, 8, 10, None, *range(32, 64, 8), *[None] * 8))
    assert classes.rewritten_dscps(FABRIC, None, unstated) == ""
    rest = fabric(classes=(TrafficClass(name="rest", purpose="default", dscp=(1, 26), tc=0, lossless=False),))
    assert classes.rewritten_dscps(rest, None, rewriting) == ""


def test_what_is_flooded_in_a_lossless_class() -> None:
    assert classes.flooded_lossless_tcs(replace(MAPPED, pcp_to_tc=(3, *range(1, 8)))) == (3,)
    assert classes.flooded_lossless_tcs(replace(MAPPED, pcp_to_tc=tuple(range(8)))) == ()
    assert classes.flooded_lossless_tcs(MAPPED) == ()
    assert classes.flooded_lossless_tcs(replace(MAPPED, tc_to_priority_group=(3, *[0] * 7, *[None] * 8))) == (0,)


def test_ports_that_are_in_a_vlan() -> None:
    vlans = (Vlan(id=100, members=(VlanMember(interface="PortChannel1", tagged=False),)),)
    bundle = (PortChannel(name="PortChannel1", members=("Ethernet0",)),)
    assert classes.is_in_vlan(vlans, bundle, "Ethernet0")
    assert classes.is_in_vlan(vlans, UNKNOWN, "PortChannel1")
    assert not classes.is_in_vlan(vlans, bundle, "Ethernet8")
    assert not classes.is_in_vlan(vlans, UNKNOWN, "Ethernet0")
    assert not classes.is_in_vlan(UNKNOWN, bundle, "Ethernet0")
    assert not classes.is_in_vlan((), bundle, "Ethernet0")


def test_bgp_in_the_queue_of_cnps() -> None:
    assert classes.queues_of_cnps_and_bgp(FABRIC, Bgp(asn=65000), MAPPED) == (6,)
    assert classes.queues_of_cnps_and_bgp(FABRIC, Bgp(asn=65000, session_dscp=56), MAPPED) == ()
    assert classes.queues_of_cnps_and_bgp(FABRIC, Bgp(asn=65000, session_dscp=0), MAPPED) == ()
    assert classes.queues_of_cnps_and_bgp(FABRIC, None, MAPPED) == ()


def test_what_a_marked_queue_drops() -> None:
    lossy = replace(MAPPED, pfc_rx_priorities=(), pfc_tx_priorities=())
    assert classes.unmarkable_traffic_in_queue(LOSSY, lossy, 3) == ()
    assert classes.unmarkable_traffic_in_queue(LOSSY, lossy, 7) == ("control",)
    assert classes.unmarkable_traffic_in_queue(LOSSY, lossy, 2) == ()
    shared = replace(lossy, tc_to_queue=(3, 1, 3, 3, 4, 5, 6, 7, *[None] * 8))
    assert classes.unmarkable_traffic_in_queue(LOSSY, shared, 3) == ("storage", "traffic with DSCP 0")
    assert classes.unmarkable_traffic_in_queue(FABRIC, replace(shared, pfc_tx_priorities=(3,)), 3) == ()


def clos(spine: QosProfile, leaf: QosProfile = MAPPED, **changes: object) -> Fabric:
    """Two leaves and a spine whose ports do what is given; of the storage class it is stated that it is lossy."""
    whole = two_leaves()
    devices = [
        replace(
            one, interfaces=tuple(replace(each, qos=spine if one.role == "spine" else leaf) for each in one.interfaces)
        )
        for one in whole.devices
    ]
    return replace(whole, classes=CLASSES, **{"devices": tuple(devices)} | changes)


def test_a_class_that_lands_elsewhere_at_the_spines_is_told_once() -> None:
    (hit,) = class_landings.find(Index(clos(landing(d10=1))), unseen=False)
    assert hit.subject == ("@fabric", "classes", "storage")
    assert hit.at == ("spine1", "Ethernet0", "qos", "dscp_to_tc", "10")
    assert hit.facts == {
        "name": "storage", "dscps": "10", "one": "lossy traffic class 1", "other": "lossy traffic class 2",
        "here": "spine1", "there": "leaf1",
    }  # fmt: skip


def test_switches_that_no_cable_joins_are_no_path() -> None:
    assert [*class_landings.find(Index(clos(landing(d10=1), links=())), unseen=False)] == []


def test_switches_of_unknown_roles_are_held_against_each_other() -> None:
    whole = clos(landing(d10=1))
    roleless = replace(whole, devices=tuple(replace(one, role=UNKNOWN) for one in whole.devices))
    assert [hit.subject[-1] for hit in class_landings.find(Index(roleless), unseen=False)] == ["storage"]


@pytest.mark.parametrize(
    "spine",
    [landing(d48=0), replace(MAPPED, trust="pcp"), replace(MAPPED, dscp_to_tc=UNKNOWN)],
    ids=["cnp-in-default-class", "port-trusts-pcp", "unknown"],
)
def test_what_is_no_class_of_its_own_or_not_known_is_not_told_of_the_path(spine: QosProfile) -> None:
    assert [*class_landings.find(Index(clos(spine)), unseen=False)] == []


BOTH = replace(
    MAPPED,
    pfc_rx_priorities=(3, 4),
    pfc_tx_priorities=(3, 4),
    tc_to_priority_group=(0, 0, 0, 3, 4, 0, 0, 0, *[None] * 8),
)
OTHER = replace(BOTH, dscp_to_tc=tuple(4 if dscp == 26 else tc for dscp, tc in enumerate(MAPPED.dscp_to_tc or ())))


def test_a_lossless_class_of_another_priority_at_the_spines() -> None:
    (hit,) = class_landings.find(Index(clos(OTHER, BOTH)), unseen=True)
    assert (hit.subject[-1], hit.facts["one"], hit.facts["other"]) == (
        "rdma",
        "lossless priority 4",
        "lossless priority 3",
    )
    assert [*class_landings.find(Index(clos(OTHER, OTHER)), unseen=True)] == []


def test_a_lossless_class_of_another_priority_at_one_leaf_alone_is_no_mere_difference_between_siblings() -> None:
    """The leaf pauses the wrong priority of its spine, which loses packets there; its siblings agree with the spine."""
    whole = clos(BOTH, BOTH)
    leaf, *others = whole.devices
    ports = tuple(replace(one, qos=OTHER) for one in leaf.interfaces)
    odd = replace(whole, devices=(replace(leaf, interfaces=ports), *others))
    (hit,) = class_landings.find(Index(odd), unseen=True)
    assert (hit.facts["here"], hit.facts["one"], hit.facts["other"]) == (
        leaf.name,
        "lossless priority 4",
        "lossless priority 3",
    )


def test_a_priority_that_the_other_end_does_not_obey_is_told_of_the_cable_and_once_of_the_path() -> None:
    half = Index(clos(OTHER, replace(BOTH, pfc_rx_priorities=(3,))))
    assert [*class_landings.find(half, unseen=True)] == []
    assert [hit.subject[-1] for hit in class_landings.find(half, unseen=False)] == ["rdma"]


def test_a_class_that_is_lossy_at_the_spines() -> None:
    lossy = replace(BOTH, dscp_to_tc=tuple(0 for _ in range(64)))
    told = Index(replace(clos(lossy, BOTH), classes=CLASSES[:1]))
    assert [*class_landings.find(told, unseen=True)] == []
    (hit,) = class_landings.find(told, unseen=False)
    assert (hit.facts["one"], hit.facts["other"]) == ("lossy traffic class 0", "lossless priority 3")
    stored = tuple(4 if dscp == 10 else tc for dscp, tc in enumerate(MAPPED.dscp_to_tc or ()))
    wanted = (CLASSES[0], replace(CLASSES[2], lossless=True))
    torn = Index(replace(clos(BOTH, replace(BOTH, dscp_to_tc=stored)), classes=wanted))
    assert [*class_landings.find(torn, unseen=False)] == []
    (hit,) = class_landings.find(torn, unseen=True)
    assert (hit.subject[-1], hit.facts["one"]) == ("storage", "lossy traffic class 2")


def of_one_leaf(qos: QosProfile) -> Index:
    """The leaf of two whose ports are otherwise than those of all others."""
    first, *others = clos(MAPPED).devices
    odd = replace(first, interfaces=tuple(replace(each, qos=qos) for each in first.interfaces))
    return Index(clos(MAPPED, devices=(odd, *others)))


def test_a_leaf_is_left_to_its_siblings_unless_it_makes_a_class_lossless_or_lossy() -> None:
    assert [*class_landings.find(of_one_leaf(landing(d10=1)), unseen=False)] == []
    found = [hit.subject[-1] for hit in class_landings.find(of_one_leaf(landing(d10=3, d26=0)), unseen=False)]
    assert found == ["rdma", "storage"]


def test_the_same_traffic_class_without_pause_is_told_of_pause() -> None:
    unpaused = replace(MAPPED, tc_to_priority_group=(*[0] * 8, *[None] * 8))
    crowded = replace(MAPPED, tc_to_priority_group=(0, 0, 3, 3, 0, 0, 0, 0, *[None] * 8))
    for spine in (unpaused, crowded):
        assert [*class_landings.find(Index(clos(spine)), unseen=False)] == []
        assert [*class_landings.find(Index(clos(spine)), unseen=True)] == []


def deaf(mode: str, **changes: object) -> Index:
    whole = clos(MAPPED, MAPPED, mode=mode, **changes)
    return Index(replace(whole, hosts=tuple(replace(host, dcqcn=False) for host in whole.hosts)))


def test_marks_that_nobody_answers_are_told_once_for_a_group_of_hosts() -> None:
    (hit,) = ignored_marks.find(deaf("lossless"))
    assert (hit.subject, hit.at) == (("leaf1", "Ethernet0"), ("leaf1", "Ethernet0", "qos", "queues", "3", "wred"))
    assert hit.facts == {"group": "gpu", "hosts": 1, "device": "leaf1", "port": "Ethernet0", "queue": 3}
    assert [*ignored_marks.find(Index(clos(MAPPED)))] == []


def test_files_of_nics_are_judged_instead_where_nics_are_to_answer() -> None:
    nics = (Nic(host="ConnectX-7", file="nic.sh"),)
    assert [*ignored_marks.find(deaf("lossless", nics=nics))] == []
    assert len([*ignored_marks.find(deaf("pfc-only", nics=nics))]) == 1


def test_a_lone_switch_has_no_path() -> None:
    alone = fabric(device("leaf1", port(0), port(1, qos=OTHER, side="fabric")), classes=CLASSES)
    assert [*class_landings.find(Index(alone), unseen=True)] == []


def test_what_a_port_protects_instead_of_rdma() -> None:
    azure = replace(MAPPED, dscp_to_tc=tuple({3: 3, 4: 3, 48: 6}.get(dscp, 1) for dscp in range(64)))
    assert qos.dscps_protected_instead(azure) == "; lossless there: DSCP 3-4"
    assert qos.dscps_protected_instead(replace(azure, pfc_tx_priorities=())) == ""
    assert qos.dscps_protected_instead(replace(azure, dscp_to_tc=UNKNOWN)) == ""
    assert qos.dscps_protected_instead(None) == ""
