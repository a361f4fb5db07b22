"""Random topologies as intents: a switch alone, rails, several groups next to hosts, pods, pods of pods, sheets."""

from hypothesis import strategies as st

from support.designs import Data
from support.tiered_intents import group, hosts, intent, links

_ASN = "4200100000+"
_HOSTS_OF_SWITCH = 8
_NAMES = ("leaf", "store", "edge")
_HOST_NAMES = ("gpu", "disk", "gate")


def topologies() -> st.SearchStrategy[Data]:
    """Intents of a topology of any shape that import finds again."""
    return st.one_of(switches_alone(), rails(), several_groups(), pods(), pods_of_pods(), sheets())


def _platforms() -> st.SearchStrategy[str]:
    return st.sampled_from(["sonic", "nvue"])


@st.composite
def switches_alone(draw: st.DrawFn) -> Data:
    """A switch with all servers of a rack."""
    count, ports = draw(st.integers(1, 16)), draw(st.integers(1, 2))
    tor = group(1, "1", platform=draw(_platforms()), ports={"endpoints": "1-32"})
    spread = hosts(ids=f"1-{count}", leaf_group=str(count), spread="one-leaf", ports=str(ports))
    return intent({"tor": tor}, {"gpu": spread}, {"tor": _ASN}, **{"addressing.links": None})


@st.composite
def rails(draw: st.DrawFn) -> Data:
    """Rails without switches above them."""
    count, each = draw(st.integers(2, 8)), draw(st.integers(1, 32))
    rail = group(1, f"1-{count}", platform=draw(_platforms()), ports={"endpoints": "1-32"})
    servers = hosts(ids=draw(_ids(each)), ports=str(count), spread="rails", leaf_group=str(each))
    return intent({"rail": rail}, {"gpu": servers}, {"rail": _ASN}, **{"addressing.links": None})


def _ids(highest: int) -> st.SearchStrategy[list[str]]:
    """Ids with gaps."""
    return st.sets(st.integers(1, highest), min_size=1, max_size=12).map(sorted).map(lambda ids: list(map(str, ids)))


@st.composite
def several_groups(draw: st.DrawFn) -> Data:
    """One to three groups next to hosts, of other models, platforms, ports and links, below the same switches."""
    groups, endpoints, upper_platform = {}, {}, draw(_platforms())
    for place, name in enumerate(_NAMES[: draw(st.integers(1, 3))]):
        count, split = draw(st.integers(1, 3)), draw(st.sampled_from(["1", "2"]))
        join = links("17-24", draw(st.integers(1, 2)), peer_ports=f"{10 * place + 1}-{10 * place + 10}")
        model = "SN5600" if split == "2" else "SN4700"
        groups[name] = group(
            1, f"1-{count}", model, draw(_platforms()), ports={"endpoints": "1-8"}, offset=str(100 * place),
            uplinks={"spine": join | ({"split": "2", "peer_split": "1"} if split == "2" else {})},
        )  # fmt: skip
        endpoints[_HOST_NAMES[place]] = hosts(
            leaves=name, ids=draw(_ids(_HOSTS_OF_SWITCH * count)), ports="1", leaf_group=str(_HOSTS_OF_SWITCH),
            split=split,
        )  # fmt: skip
    spines = group(2, f"1-{draw(st.integers(1, 4))}", platform=upper_platform)
    asn = dict.fromkeys(groups, _ASN) | {"spine": "4200000000"}
    wide = {"addressing.links": "10.64.0.0/12", "addressing.endpoints": "10.32.0.0/13"}
    return intent(groups | {"spine": spines}, endpoints, asn, **{"topology.max_oversubscription": "1000"}, **wide)


@st.composite
def pods(draw: st.DrawFn) -> Data:
    """Two or three pods, the last of them not full, below a top tier."""
    platform = draw(_platforms())
    leaves, spines, count = draw(st.integers(1, 4)), draw(st.integers(1, 2)), draw(st.integers(2, 3))
    last = leaves * (count - 1) + draw(st.integers(1, leaves))
    up, top = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    groups = {
        "leaf": group(
            1, f"1-{last}", platform=platform, ports={"endpoints": "1-8"}, per_pod=str(leaves),
            uplinks={"spine": links("17-24", up, peer_ports="1-8")},
        ),
        "spine": group(
            2, f"1-{spines * count}", platform=platform, per_pod=str(spines),
            uplinks={"core": links("25-32", top)},
        ),
        "core": group(3, f"1-{draw(st.integers(1, 4))}", platform=draw(_platforms())),
    }  # fmt: skip
    servers = hosts(ids=draw(_ids(_HOSTS_OF_SWITCH * last)), ports="1", leaf_group=str(_HOSTS_OF_SWITCH))
    asn = {"leaf": _ASN, "spine": "4200200000+pod", "core": "4200000000"}
    return intent(groups, {"gpu": servers}, asn, **{"topology.max_oversubscription": "1000"})


@st.composite
def pods_of_pods(draw: st.DrawFn) -> Data:
    """Two pods of pods, the last one with fewer leaves, below a top tier of their own."""
    leaves, spines, hubs = draw(st.integers(1, 2)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    inner = draw(st.integers(1, 3))
    pods_in_all = 2 * inner
    last = leaves * (pods_in_all - 1) + draw(st.integers(1, leaves))
    groups = {
        "leaf": group(
            1, f"1-{last}", platform=draw(_platforms()), ports={"endpoints": "1-4"}, per_pod=str(leaves),
            uplinks={"spine": links("29-32", draw(st.integers(1, 2)), peer_ports="1-4")},
        ),
        "spine": group(
            2, f"1-{spines * pods_in_all}", platform=draw(_platforms()), per_pod=str(spines),
            uplinks={
                "hub": links(
                    "29-32", draw(st.integers(1, 2)), peer_ports="1-12", slots=str(spines * inner), pods=str(inner)
                ),
            },
        ),
        "hub": group(
            3, f"1-{2 * hubs}", platform=draw(_platforms()), per_pod=str(hubs),
            uplinks={"core": links("25-32", draw(st.integers(1, 2)))},
        ),
        "core": group(4, f"1-{draw(st.integers(1, 3))}", platform="nvue"),
    }  # fmt: skip
    servers = hosts(ids=draw(_ids(4 * last)), ports="1", leaf_group="4")
    asn = {"leaf": _ASN, "spine": "4200200000+pod", "hub": "4200300000+pod", "core": "4200400000"}
    return intent(groups, {"gpu": servers}, asn, **{"topology.max_oversubscription": "1000"})


@st.composite
def sheets(draw: st.DrawFn) -> Data:
    """One to three leaves and spines, with cables by no rule: on any ports, of any number and of two lengths."""
    leaves, spines = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    free = {f"leaf{number}": iter(draw(st.permutations(range(17, 33)))) for number in range(1, leaves + 1)}
    free |= {f"spine{number}": iter(draw(st.permutations(range(1, 33)))) for number in range(1, spines + 1)}
    pairs = [(1, spine) for spine in range(1, spines + 1)] + [(leaf, 1) for leaf in range(2, leaves + 1)]
    pairs += draw(st.lists(st.tuples(st.integers(1, leaves), st.integers(1, spines)), max_size=5))
    ends = [(f"leaf{leaf}", f"spine{spine}") for leaf, spine in pairs]
    lengths = st.sampled_from(["", " 20m"])
    cables = [f"{a}:{next(free[a])}--{b}:{next(free[b])}{draw(lengths)}" for a, b in ends]
    groups = {
        "leaf": group(1, f"1-{leaves}", platform=draw(_platforms()), ports={"endpoints": "1-8"}),
        "spine": group(2, f"1-{spines}", platform=draw(_platforms())),
    }
    servers = hosts(ids=draw(_ids(_HOSTS_OF_SWITCH * leaves)), ports="1", leaf_group=str(_HOSTS_OF_SWITCH))
    data = intent(groups, {"gpu": servers}, {"leaf": _ASN, "spine": "4200000000"})
    alike = {"speed": "400G", "media": "DR4", "length": "50m", "max_oversubscription": "1000"}
    return data | {"topology": {"kind": "cabling", "groups": groups, "cables": cables, **alike}}
