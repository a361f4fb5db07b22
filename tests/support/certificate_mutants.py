"""Changes of certificates, each sealed again: of next hops, maps, sessions and witnesses."""

import copy
import random
from collections.abc import Callable

from support.certificates import Document, sealed


def mutant(document: Document, rng: random.Random) -> tuple[str, Document]:
    """Return a changed and sealed copy of a certificate, and the name of the change."""
    while True:
        change = rng.choice(CHANGES)
        copied = copy.deepcopy(document)
        try:
            change(copied, rng)
        except (LookupError, ValueError):
            continue
        if copied != document:
            return change.__name__, sealed(copied)


def add_next_hop(document: Document, rng: random.Random) -> None:
    """Let a table send destinations over one more of its channels."""
    channel = rng.randrange(len(document["channels"]))
    row = rng.choice(document["next_hops"][document["channels"][channel][0]])
    if channel not in row["over"]:
        row["over"].append(channel)


def turn_next_hop(document: Document, rng: random.Random) -> None:
    """Let a row have other channels of its table."""
    channel = rng.randrange(len(document["channels"]))
    rng.choice(document["next_hops"][document["channels"][channel][0]])["over"] = [channel]


def remove_next_hops(document: Document, rng: random.Random) -> None:
    """Drop a row."""
    rows = document["next_hops"][rng.choice(sorted(document["next_hops"]))]
    rows.pop(rng.randrange(len(rows)))


def send_other_destinations(document: Document, rng: random.Random) -> None:
    """Let a row have another set."""
    rng.choice(rng.choice(sorted(document["next_hops"].values(), key=str)))["to"] = rng.randrange(len(document["sets"]))


def move_end(document: Document, rng: random.Random) -> None:
    """Let other destinations end at a table."""
    document["ends"][rng.choice(sorted(document["ends"]))] = rng.randrange(len(document["sets"]))


def change_set(document: Document, rng: random.Random) -> None:
    """Put a destination into a set."""
    number = rng.randrange(len(document["destinations"]))
    rng.choice(document["sets"]).append([number, number])


def remove_prefix(document: Document, rng: random.Random) -> None:
    """Let hosts no longer send to a destination."""
    document["destinations"][rng.randrange(len(document["destinations"]))] = []


def swap_positions(document: Document, rng: random.Random) -> None:
    """Swap the positions of two buffers."""
    first, second = rng.choice(document["positions"]), rng.choice(document["positions"])
    first[2], second[2] = second[2], first[2]


def change_position(document: Document, rng: random.Random) -> None:
    """Give a buffer another position."""
    rng.choice(document["positions"])[2] = rng.randrange(len(document["positions"]))


def drop_position(document: Document, rng: random.Random) -> None:
    """Leave a buffer out of the witness."""
    document["positions"].remove(rng.choice(document["positions"]))


def repeat_position(document: Document, rng: random.Random) -> None:
    """Give a buffer a second position."""
    channel, group, position = rng.choice(document["positions"])
    document["positions"].append([channel, group, position + rng.randrange(2)])


def drop_channel(document: Document, rng: random.Random) -> None:
    """Leave all buffers of a channel out of the witness."""
    channel = rng.choice(document["positions"])[0]
    document["positions"] = [entry for entry in document["positions"] if entry[0] != channel]


def change_class(document: Document, rng: random.Random) -> None:
    """Map a DSCP to another traffic class."""
    rng.choice(document["maps"])["tc"][rng.choice([0, 26, 34, 48])] = rng.choice([0, 3, 4, 6])


def change_group(document: Document, rng: random.Random) -> None:
    """Map a traffic class to another priority group."""
    rng.choice(document["maps"])["group"][rng.choice([0, 3, 4])] = rng.choice([0, 3, 4])


def change_queue(document: Document, rng: random.Random) -> None:
    """Map a traffic class to another queue."""
    rng.choice(document["maps"])["queue"][rng.choice([0, 3, 4])] = rng.choice([0, 3, 4])


def rewrite(document: Document, rng: random.Random) -> None:
    """Write another DSCP into packets of a class."""
    rng.choice(document["maps"])["dscp"][rng.choice([0, 3, 4])] = rng.choice([None, 0, 26, 34])


def change_pauses(document: Document, rng: random.Random) -> None:
    """Let a priority group pause priorities, or none."""
    pauses, group = rng.choice(document["maps"])["pauses"], rng.choice("0345")
    if pauses.pop(group, None) is None:
        pauses[group] = [rng.choice([3, 4])]


def change_stops(document: Document, rng: random.Random) -> None:
    """Let a priority stop a queue, or none."""
    stops, priority = rng.choice(document["maps"])["stops"], rng.choice("345")
    if stops.pop(priority, None) is None:
        stops[priority] = rng.choice([0, 3, 4])


def change_map(document: Document, rng: random.Random) -> None:
    """Give one end of a channel another map."""
    rng.choice(document["channels"])[rng.choice([4, 5])] = rng.randrange(len(document["maps"]))


def move_channel(document: Document, rng: random.Random) -> None:
    """Let a channel lead to another table."""
    rng.choice(document["channels"])[2] = rng.choice(sorted(document["next_hops"]))


def move_hosts(document: Document, rng: random.Random) -> None:
    """Take hosts from a table, or put them at one, or behind other maps."""
    table = rng.choice(sorted(document["next_hops"]))
    if document["entries"].pop(table, None) is None or rng.randrange(2):
        document["entries"][table] = [rng.randrange(len(document["maps"]))]


def change_cycle(document: Document, rng: random.Random) -> None:
    """Change one value of an entry of the cycle."""
    entry = rng.choice(document["cycle"])
    values = {
        "channel": rng.randrange(len(document["channels"])),
        "group": rng.choice([0, 3, 4]),
        "destination": rng.randrange(len(document["destinations"])),
        "dscp": rng.randrange(64),
        "source": rng.choice(sorted(document["next_hops"])),
        "source_dscp": rng.randrange(64),
    }
    key = rng.choice(sorted(values))
    entry[key] = values[key]


def drop_cycle_entry(document: Document, rng: random.Random) -> None:
    """Leave an entry out of the cycle."""
    document["cycle"].remove(rng.choice(document["cycle"]))


def swap_cycle_entries(document: Document, rng: random.Random) -> None:
    """Swap two entries of the cycle."""
    cycle = document["cycle"]
    first, second = rng.sample(range(len(cycle)), 2) if len(cycle) > 1 else [][1]
    cycle[first], cycle[second] = cycle[second], cycle[first]


def drop_tunnel(document: Document, rng: random.Random) -> None:
    """Leave a tunnel out."""
    document["tunnels"].pop(rng.randrange(len(document["tunnels"])))


def move_tunnel(document: Document, rng: random.Random) -> None:
    """Let a tunnel begin at another table, lead to another destination, or be for others."""
    tunnel = rng.choice(document["tunnels"])
    values = {
        "at": rng.choice(sorted(document["next_hops"])),
        "to": rng.randrange(len(document["destinations"])),
        "servers": rng.randrange(len(document["sets"])),
    }
    key = rng.choice(sorted(values))
    tunnel[key] = values[key]


def remap_tunnel(document: Document, rng: random.Random) -> None:
    """Let a tunnel map a class to something else, or leave it to the port."""
    tunnel, key = rng.choice(document["tunnels"]), rng.choice(["outside", "queue"])
    tunnel[key][rng.choice([0, 3, 4])] = rng.choice([None, 0, 26, 34] if key == "outside" else [None, 0, 3, 4])


def change_tunnel_in_cycle(document: Document, rng: random.Random) -> None:
    """Put the packets of an entry of the cycle into another tunnel, or none."""
    rng.choice(document["cycle"])["tunnel"] = rng.choice([None, *range(len(document["tunnels"]))])


def drop_flood_member(document: Document, rng: random.Random) -> None:
    """Take a member out of a VLAN."""
    members = rng.choice(document["floods"])["members"]
    members.pop(rng.randrange(len(members)))


def add_flood_member(document: Document, rng: random.Random) -> None:
    """Put one more port of a table into its VLAN, from which packets go to none."""
    flood, channel = rng.choice(document["floods"]), rng.randrange(len(document["channels"]))
    flood["members"].append({"out": [[channel, None]], "in": []})


def flood_other_destinations(document: Document, rng: random.Random) -> None:
    """Let a VLAN have other destinations, or be at another table."""
    flood = rng.choice(document["floods"])
    values = {"to": rng.randrange(len(document["sets"])), "at": rng.choice(sorted(document["next_hops"]))}
    key = rng.choice(sorted(values))
    flood[key] = values[key]


def join_other_vlan(document: Document, rng: random.Random) -> None:
    """Let packets be in another VLAN behind a member, or in none."""
    way = rng.choice(rng.choice(rng.choice(document["floods"])["members"])["out"])
    way[1] = rng.choice([None, *range(len(document["floods"]))])


def forget_way_back(document: Document, rng: random.Random) -> None:
    """Let a channel no longer arrive at its member, so that packets are flooded back."""
    rng.choice(rng.choice(document["floods"])["members"])["in"] = []


def change_flood_in_cycle(document: Document, rng: random.Random) -> None:
    """Let the packets of an entry of the cycle be flooded in another VLAN, or none."""
    rng.choice(document["cycle"])["flood"] = rng.choice([None, *range(len(document["floods"]) + 1)])


def change_claim(document: Document, rng: random.Random) -> None:
    """Claim something else."""
    document["claim"], document["failures"] = rng.choice(
        [("deadlock-free", "none"), ("deadlock-free", "any"), ("deadlock-possible", "listed")]
    )


def change_level(document: Document, rng: random.Random) -> None:
    """Raise or lower a table."""
    table = rng.choice(sorted(document["levels"]))
    document["levels"][table] = max(0, document["levels"][table] + rng.choice([-1, 1]))


def change_as_number(document: Document, rng: random.Random) -> None:
    """Give a table another AS number."""
    document["as_numbers"][rng.choice(sorted(document["as_numbers"]))] = rng.choice([64999, 65000, 65100])


def weaken_kind(document: Document, rng: random.Random) -> None:
    """Let a kind of sessions pass more."""
    kind = rng.choice(document["session_kinds"])
    key, value = rng.choice(
        [("keeps_path", False), ("own_as", 1), ("passes", None), ("passes", rng.randrange(len(document["sets"])))]
    )
    kind[key] = value


def change_kind(document: Document, rng: random.Random) -> None:
    """Give a session another kind."""
    rng.choice(document["sessions"])[2] = rng.randrange(len(document["session_kinds"]))


def drop_session(document: Document, rng: random.Random) -> None:
    """Drop one direction of a session."""
    document["sessions"].remove(rng.choice(document["sessions"]))


def change_outer(document: Document, rng: random.Random) -> None:
    """Let other prefixes have longer ones inside."""
    document["outer"] = rng.randrange(len(document["sets"]))


CHANGES: tuple[Callable[[Document, random.Random], None], ...] = (
    add_next_hop,
    turn_next_hop,
    remove_next_hops,
    send_other_destinations,
    move_end,
    change_set,
    remove_prefix,
    swap_positions,
    change_position,
    drop_position,
    repeat_position,
    drop_channel,
    change_class,
    change_group,
    change_queue,
    rewrite,
    change_pauses,
    change_stops,
    change_map,
    move_channel,
    move_hosts,
    change_cycle,
    drop_cycle_entry,
    swap_cycle_entries,
    drop_tunnel,
    move_tunnel,
    remap_tunnel,
    change_tunnel_in_cycle,
    drop_flood_member,
    add_flood_member,
    flood_other_destinations,
    join_other_vlan,
    forget_way_back,
    change_flood_in_cycle,
    change_claim,
    change_level,
    change_as_number,
    weaken_kind,
    change_kind,
    drop_session,
    change_outer,
)
