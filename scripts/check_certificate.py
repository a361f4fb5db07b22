"""Check a certificate of `nodrop prove --certificate` from docs/certificates.md alone, without nodrop.

    python3 check_certificate.py [--files DIR] CERTIFICATE

Exit 0: accepted, and the claim is printed with its conditions. Exit 1: rejected, with the reason.
Exit 2: the file is no certificate, or it needs too much work for its size.

The premises are taken as they are; `--files` compares the files that they were read from. Sets of destinations are
bits of integers. DSCPs that every map treats alike are computed once, by the lowest of them.
"""

import argparse
import gc
import hashlib
import json
import sys
from bisect import bisect_right
from collections import defaultdict, deque
from pathlib import Path

MAX_BYTES = 1 << 29
STEPS_PER_BYTE, FEWEST_STEPS = 100, 10_000_000
"""Work that is allowed for each byte of a certificate, and for a small one: a step handles 4,096 destinations."""


class Malformed(Exception):
    """The file is no certificate, or too large for this checker."""


class Rejected(Exception):
    """The witness does not prove the claim."""


# --- Shapes: int (from 0 on), str, bool, a range, a constant, {any of these}, [all items], (each, item), {"each": key},
# {str: all keys} and {int: all keys, which are numbers below 16}.

NUMBERS = set(map(str, range(16)))
MAP = {
    "tc": (range(16),) * 64,
    "group": (int,) * 16,
    "queue": (int,) * 16,
    "dscp": ({range(64), None},) * 16,
    "pauses": {int: [int]},
    "stops": {int: int},
}
TUNNEL = {
    "at": str,
    "servers": int,
    "to": int,
    "outside": ({range(64), None},) * 16,
    "queue": ({int, None},) * 16,
}
FLOOD = {"at": str, "vlan": int, "to": int, "members": [{"out": [(int, {int, None})], "in": [int]}]}
PACKETS = {"destination": int, "dscp": range(64), "source": str, "source_dscp": range(64)}
CERTIFICATE = {
    "version": 1,
    "fabric": str,
    "claim": {"deadlock-free", "deadlock-possible"},
    "failures": {"none", "any", "listed"},
    "failed": [(str, str)],
    "files": [{"path": str, "blake2b": str}],
    "rests_on": [{"part": str, "missing": str}],
    "assumptions": [str],
    "seal": str,
    "premises": {
        "sets": [[(int, int)]],
        "destinations": [[str]],
        "outer": int,
        "maps": [MAP],
        "channels": [(str, str, str, str, int, int)],
        "entries": {str: [int]},
        "ends": {str: int},
        "next_hops": {str: [{"to": int, "over": [int]}]},
        "tunnels": [TUNNEL],
        "floods": [FLOOD],
        "as_numbers": {str: int},
        "sessions": [(str, str, int)],
        "session_kinds": [{"passes": {int, None}, "keeps_path": bool, "own_as": int}],
    },
    "witness": {
        "positions": [(int, int, int)],
        "cycle": [{"channel": int, "group": int, "tunnel": {int, None}, "flood": {int, None}, **PACKETS}],
        "levels": {str: int},
    },
}


def read(path):
    """Return the document and its length in bytes; raise Malformed if it is no JSON or of another shape."""
    with Path(path).open("rb") as file:
        text = file.read(MAX_BYTES + 1)
    if len(text) > MAX_BYTES:
        raise Malformed(f"the file has more than {MAX_BYTES} bytes")
    try:
        document = json.loads(text.decode(), object_pairs_hook=unique, parse_float=refuse, parse_constant=refuse)
    except RecursionError:
        raise Malformed("the file is nested too deeply") from None
    except ValueError as error:
        raise Malformed(f"the file is no JSON of whole numbers: {error}") from None
    check_shape(document, CERTIFICATE, "the document")
    return document, len(text)


def unique(pairs):
    """Return the object of these pairs; no key may appear twice."""
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError("an object has a key twice")
    return result


def refuse(number):
    """Refuse fractions, infinity and NaN."""
    raise ValueError(f"{number[:20]} is no whole number")


def fits(value, shape):
    """Whether a value without parts has a shape."""
    if isinstance(shape, set):
        return any(fits(value, inner) for inner in shape)
    if isinstance(shape, range):
        return type(value) is int and value in shape
    if isinstance(shape, type):
        return type(value) is shape and (shape is not int or value >= 0)
    return type(value) is type(shape) and value == shape


def check_shape(value, shape, where):
    """Raise Malformed if a value has another shape. The calls are as deep as the shape, whatever the value is."""
    if not isinstance(shape, dict | list | tuple):
        if not fits(value, shape):
            raise Malformed(f"{where}: expected {getattr(shape, '__name__', shape)}")
        return
    if type(value) is not (dict if isinstance(shape, dict) else list):
        raise Malformed(f"{where}: expected {'an object' if isinstance(shape, dict) else 'a list'}")
    if isinstance(shape, dict):
        every = shape.get(str, shape.get(int))
        if not (value.keys() <= NUMBERS if int in shape else str in shape or value.keys() == shape.keys()):
            raise Malformed(f"{where}: expected the keys {'0 to 15' if int in shape else ', '.join(shape)}")
        parts = ((key, item, shape[key] if every is None else every) for key, item in value.items())
    else:
        if isinstance(shape, tuple) and len(value) != len(shape):
            raise Malformed(f"{where}: expected a list of {len(shape)}")
        inners = shape if isinstance(shape, tuple) else shape * len(value)
        parts = ((number, item, inner) for number, (item, inner) in enumerate(zip(value, inners, strict=True)))
    for key, item, inner in parts:
        if inner not in (int, str) or not fits(item, inner):
            check_shape(item, inner, f"{where}, {key}")


# --- Premises.


def switch(table):
    """Return the switch of a forwarding table."""
    return table.split(" VRF ")[0]


class Premises:
    """The premises of a certificate, with all references resolved, and what follows from them."""

    def __init__(self, document, length):
        self.steps = max(FEWEST_STEPS, STEPS_PER_BYTE * length)
        self.destinations = len(document["destinations"])
        self.hosts = int("0" + "".join("1" if prefixes else "0" for prefixes in reversed(document["destinations"])), 2)
        self.free_bits = 8 * MAX_BYTES
        self.sets = [self.bits(ranges, f"sets, {number}") for number, ranges in enumerate(document["sets"])]
        self.outer = self.set(document["outer"], "outer")
        self.maps, self.channels, self.entries = document["maps"], document["channels"], document["entries"]
        for number, channel in enumerate(self.channels):
            self.check_maps(channel[4:], f"channels, {number}")
        for table, maps in self.entries.items():
            self.check_maps(maps, f"entries, {table}")
        if len({tuple(channel[:4]) for channel in self.channels}) < len(self.channels):
            raise Rejected("channels: two of them have the same ends")
        self.ends = {table: self.set(number, f"ends, {table}") for table, number in document["ends"].items()}
        self.failed = {tuple(port) for port in document["failed"]}
        self.rows = defaultdict(list)
        for table, rows in document["next_hops"].items():
            for number, row in enumerate(rows):
                where = f"next_hops, {table}, row {number}"
                for channel in row["over"]:
                    if channel >= len(self.channels) or self.channels[channel][0] != table:
                        raise Rejected(f"{where}: channel {channel} does not begin at the table")
                    self.check_ports(channel, where)
                self.rows[table].append((self.set(row["to"], where) & ~self.ends.get(table, 0), row["over"]))
        self.tunnels, self.tunnels_at = document["tunnels"], defaultdict(list)
        for number, tunnel in enumerate(self.tunnels):
            table, where = tunnel["at"], f"tunnels, {number}"
            if tunnel["to"] >= self.destinations:
                raise Rejected(f"{where}: destination {tunnel['to']} does not exist")
            self.tunnels_at[table].append((number, self.set(tunnel["servers"], where) & self.ends.get(table, 0)))
        self.read_floods(document["floods"])
        self.group_dscps(exactly=document["claim"] == "deadlock-possible")
        self.known_groups = {}

    def read_floods(self, floods):
        """Find the member of a VLAN that each channel arrives at; raise Rejected if a channel is at another switch."""
        self.floods, self.floods_at, self.member = floods, defaultdict(list), {}
        for place, flood in enumerate(floods):
            self.floods_at[flood["at"]].append(
                (place, self.set(flood["to"], f"floods, {place}") & self.ends.get(flood["at"], 0))
            )
            for number, member in enumerate(flood["members"]):
                for channel in member["in"]:
                    self.check_switch(channel, 2, flood["at"], f"floods, {place}")
                    if self.member.setdefault((place, channel), number) != number:
                        raise Rejected(f"floods, {place}: channel {channel} arrives at two members")
        for place, flood in enumerate(floods):
            for channel, far in (way for member in flood["members"] for way in member["out"]):
                self.check_switch(channel, 0, flood["at"], f"floods, {place}")
                self.check_ports(channel, f"floods, {place}")
                if far is not None and (far, channel) not in self.member:
                    raise Rejected(f"floods, {place}: channel {channel} does not arrive at a member of {far}")

    def check_switch(self, channel, end, table, where):
        """Raise Rejected unless a channel exists, and begins (end 0) or ends (2) at the switch of a table."""
        if channel >= len(self.channels) or switch(self.channels[channel][end]) != switch(table):
            raise Rejected(f"{where}: channel {channel} does not exist at the switch")

    def check_ports(self, channel, where):
        """Raise Rejected if a port of a channel has failed."""
        start, port, end, far_port, _, _ = self.channels[channel]
        if {(switch(start), port), (switch(end), far_port)} & self.failed:
            raise Rejected(f"{where}: channel {channel} has a failed port")

    def check_maps(self, numbers, where):
        """Raise Rejected unless all maps of these numbers exist."""
        if numbers and max(numbers) >= len(self.maps):
            raise Rejected(f"{where}: map {max(numbers)} does not exist")

    def spend(self, operations):
        """Count operations on sets; raise Malformed if they exceed what the size of the file allows."""
        self.steps -= operations * (1 + self.destinations // 4096)
        if self.steps < 0:
            raise Malformed("the check needs too much work for a certificate of this size")

    def bits(self, ranges, where):
        """Return the destinations of some ranges."""
        self.spend(1 + len(ranges))
        bits = 0
        for first, last in ranges:
            if not first <= last < self.destinations:
                raise Rejected(f"{where}: {first} to {last} is no range of the {self.destinations} destinations")
            bits |= (2 << last) - (1 << first)
        self.free_bits -= bits.bit_length()
        if self.free_bits < 0:
            raise Malformed(f"{where}: the sets need more than {MAX_BYTES} bytes of memory")
        return bits

    def set(self, number, where):
        """Return the destinations of a set."""
        if number >= len(self.sets):
            raise Rejected(f"{where}: set {number} does not exist")
        return self.sets[number]

    def group_dscps(self, exactly):
        """Find the DSCPs that all maps treat alike, and those whose packets a buffer holds at once or later."""
        first = {}
        keys = [dscp if exactly else tuple(port["tc"][dscp] for port in self.maps) for dscp in range(64)]
        self.alike = [first.setdefault(key, dscp) for dscp, key in enumerate(keys)]
        new = [{port["dscp"][tc] for port in self.maps} - {None} for tc in range(16)]
        becomes = {d: {self.alike[n] for port in self.maps for n in new[port["tc"][d]]} for d in self.alike}
        self.held = {d for d in becomes if any(str(p["group"][p["tc"][d]]) in p["pauses"] for p in self.maps)}
        while more := {dscp for dscp in becomes.keys() - self.held if becomes[dscp] & self.held}:
            self.held |= more
        if self.tunnels:
            self.held = set(self.alike)

    def begin(self, table, bits, dscps):
        """Return the states of packets to some destinations that enter the fabric at a table."""
        begun = [(None, bits & self.hosts)]
        begun += [((place, None), bits & self.hosts & to) for place, to in self.floods_at.get(table, ())]
        return {
            (table, number, dscp, None, flood): some
            for number in self.entries.get(table, ())
            for dscp in dscps
            for flood, some in begun
            if some
        }

    def onward(self, table, in_tunnel, flood):
        """Yield how packets go on from a table: to which destinations, over which channels, into which tunnel.

        `flood` has the number of the VLAN in which the table floods them and the member by which they came, if it does.
        """
        if flood is not None:
            members = enumerate(self.floods[flood[0]]["members"])
            over = [channel for number, member in members if number != flood[1] for channel, _ in member["out"]]
            self.spend(1 + len(over))
            yield -1, over, None
            return
        rows = self.rows.get(table, ())
        self.spend(1 + len(rows))
        yield from ((to, over, None) for to, over in rows)
        for number, servers in () if in_tunnel else self.tunnels_at.get(table, ()):
            self.spend(len(rows))
            yield from ((servers, over, number) for to, over in rows if to >> self.tunnels[number]["to"] & 1)

    def behind(self, channel, in_tunnel, flood):
        """Yield where packets are flooded behind a channel (None: nowhere), and the destinations of those."""
        if flood is None:
            yield None, -1
            for place, to in () if in_tunnel else self.floods_at.get(self.channels[channel][2], ()):
                yield (place, self.member.get((place, channel))), to
            return
        for number, member in enumerate(self.floods[flood[0]]["members"]):
            for way, far in member["out"] if number != flood[1] else ():
                if way == channel and far is not None:
                    yield (far, self.member[far, channel]), -1

    def walk(self, begun):
        """Return the destinations of the packets that cross each channel with each DSCP, from where they begin.

        Those in each tunnel are apart, and those that are flooded behind the channel. DSCPs that no buffer ever holds
        are left out.
        """
        crossed, reached, new, queue = {}, dict(begun), dict(begun), deque(begun)
        while queue:
            state = queue.popleft()
            table, number, dscp, tunnel, flood = state
            bits, tc = new.pop(state), self.maps[number]["tc"][dscp]
            for to, over, into in self.onward(table, tunnel is not None, flood):
                sent = bits & to
                if not sent:
                    continue
                self.spend(len(over))
                within = tunnel if into is None else into
                outside = None if into is None else self.tunnels[into]["outside"][tc]
                sent = sent if into is None else 1 << self.tunnels[into]["to"]
                for channel in over:
                    _, _, end, _, leaves, enters = self.channels[channel]
                    written = self.maps[leaves]["dscp"][tc] if outside is None else outside
                    behind = dscp if written is None else self.alike[written]
                    if behind not in self.held:
                        continue
                    for following, bits_there in self.behind(channel, within is not None, flood):
                        if not (going := sent & bits_there):
                            continue
                        before = crossed.get((channel, behind, within, following))
                        crossed[channel, behind, within, following] = going if before is None else before | going
                        onward = (end, enters, behind, within, following)
                        if more := going & ~reached.get(onward, 0):
                            reached[onward] = reached.get(onward, 0) | more
                            if onward not in new:
                                queue.append(onward)
                            new[onward] = new.get(onward, 0) | more
        return crossed

    def buffer(self, channel, dscp):
        """Return the group that holds packets behind a channel (None: no buffer), and their traffic class.

        Where packets come out of a tunnel, other maps apply, but no dependency begins.
        """
        enters = self.maps[self.channels[channel][5]]
        tc = enters["tc"][dscp]
        group = enters["group"][tc]
        return (group if str(group) in enters["pauses"] else None), tc

    def groups(self, tc, channel, into):
        """Return the groups behind a channel that stop the packets of a traffic class that are to go over it.

        `into` is the tunnel into which they go, if it is not None.
        """
        leaves, enters = (self.maps[number] for number in self.channels[channel][4:])
        key = (tc, *self.channels[channel][4:], into)
        if key not in self.known_groups:
            queue = None if into is None else self.tunnels[into]["queue"][tc]
            queue = leaves["queue"][tc] if queue is None else queue
            stopping = {int(priority) for priority, stopped in leaves["stops"].items() if stopped == queue}
            self.known_groups[key] = [int(group) for group, sent in enters["pauses"].items() if stopping & set(sent)]
        return self.known_groups[key]

    def name(self, channel, group):
        """Return a buffer in words."""
        start, port, end, far_port, _, _ = self.channels[channel]
        return f"group {group} of {end} {far_port} (channel {channel}, from {start} {port})"


# --- Witnesses.


def check_positions(premises, positions):
    """Raise Rejected unless every buffer that depends on another has a lower position than that one."""
    place = {(channel, group): position for channel, group, position in positions}
    if len(place) < len(positions):
        raise Rejected("positions: a buffer has two of them")
    begun = {}
    for table in premises.entries:
        begun |= premises.begin(table, premises.hosts, premises.held)
    arrivals = defaultdict(list)
    for (channel, dscp, tunnel, flood), bits in premises.walk(begun).items():
        group, tc = premises.buffer(channel, dscp)
        if group is not None:
            state = (premises.channels[channel][2], tc, tunnel is not None, flood)
            arrivals[state].append((channel, group, dscp, bits))
    for (table, tc, in_tunnel, flood), held in arrivals.items():
        rows = []  # the lowest position that a row needs, its buffer, the destinations of the row
        for to, over, into in premises.onward(table, in_tunnel, flood):
            needed = [(place.get((c, group), -1), c, group) for c in over for group in premises.groups(tc, c, into)]
            if needed:
                rows.append((*min(needed), to))
        rows.sort()
        lowest, below = [row[0] for row in rows], [0]
        for *_, to in rows:
            below.append(below[-1] | to)
        for channel, group, dscp, bits in held:
            position = place.get((channel, group), float("inf"))
            if wrong := bits & below[bisect_right(lowest, position)]:
                other, onward, far_group, to = next(row for row in rows if wrong & row[-1])
                mine, theirs = place.get((channel, group), "none"), "none" if other < 0 else other
                raise Rejected(
                    f"positions: {premises.name(channel, group)} has {mine}, and depends on "
                    f"{premises.name(onward, far_group)} with {theirs}, by packets with DSCP {dscp} "
                    f"to destination {(wrong & to & -(wrong & to)).bit_length() - 1}"
                )


def check_cycle(premises, cycle):
    """Raise Rejected unless each buffer of the cycle depends on the next one, by the packets that are named."""
    if not cycle:
        raise Rejected("cycle: it has no buffers")
    walks = {}
    for number, entry in enumerate(cycle):
        where, onward = f"cycle, entry {number}", cycle[(number + 1) % len(cycle)]
        channel, dscp, destination, tunnel = (entry[key] for key in ("channel", "dscp", "destination", "tunnel"))
        if channel >= len(premises.channels) or destination >= premises.destinations:
            raise Rejected(f"{where}: the channel or the destination does not exist")
        key = (entry["source"], entry["source_dscp"], destination)
        if key not in walks:
            walks[key] = premises.walk(premises.begin(entry["source"], 1 << destination, [entry["source_dscp"]]))
        flood = None if entry["flood"] is None else (entry["flood"], premises.member.get((entry["flood"], channel)))
        if (channel, dscp, tunnel, flood) not in walks[key]:
            within = "" if tunnel is None else f" in tunnel {tunnel}"
            within += "" if flood is None else f" and are then flooded in {flood[0]}"
            raise Rejected(f"{where}: packets of the source do not cross the channel with DSCP {dscp}{within}")
        group, tc = premises.buffer(channel, dscp)
        if group != entry["group"]:
            raise Rejected(f"{where}: group {entry['group']} does not hold the packets")
        to = destination if tunnel is None else premises.tunnels[tunnel]["to"]
        over = {
            (after, group)
            for bits, channels, into in premises.onward(premises.channels[channel][2], tunnel is not None, flood)
            for after in (channels if bits >> to & 1 else ())
            for group in premises.groups(tc, after, into)
        }
        if (onward["channel"], onward["group"]) not in over:
            raise Rejected(f"{where}: the packets do not make the buffer depend on the next one")


def check_levels(premises, document):
    """Raise Rejected unless no table can announce upward what it uses from above, whatever has failed."""
    if premises.tunnels:
        raise Rejected(f"tunnels: {premises.tunnels[0]['at']} sends up again what came down to it")
    if premises.floods:
        raise Rejected(f"floods: {premises.floods[0]['at']} sends up again what came down to it")
    levels, numbers, kinds = document["levels"], document["as_numbers"], document["session_kinds"]
    every = (1 << premises.destinations) - 1
    passes = [every if k["passes"] is None else premises.set(k["passes"], "session_kinds") for k in kinds]
    pairs, from_above = set(), defaultdict(lambda: defaultdict(int))
    for number, (announcer, listener, kind) in enumerate(document["sessions"]):
        if kind >= len(kinds) or any(t not in levels or t not in numbers for t in (announcer, listener)):
            raise Rejected(f"sessions, {number}: its kind, or a level or AS number of its tables, does not exist")
        if levels[announcer] == levels[listener]:
            raise Rejected(f"levels: {announcer} and {listener} have a session and the same level")
        if levels[announcer] > levels[listener]:
            from_above[listener][numbers[announcer], kinds[kind]["keeps_path"]] |= passes[kind]
        pairs.add((announcer, listener))
    for announcer, listener in pairs:
        if (listener, announcer) not in pairs:
            raise Rejected(f"sessions: {announcer} announces to {listener}; expected a session in return")
    for rows in premises.rows.values():
        for channel in (channel for _, over in rows for channel in over):
            if (premises.channels[channel][0], premises.channels[channel][2]) not in pairs:
                raise Rejected(f"next_hops: channel {channel} joins tables without a session")
    ending = repeated = 0
    for bits in premises.ends.values():
        ending, repeated = ending | bits, repeated | (ending & bits)
    for announcer, listener, kind in document["sessions"]:
        if levels[announcer] > levels[listener]:
            continue
        premises.spend(1)
        where = f"sessions: {announcer} up to {listener}"
        own = premises.ends.get(announcer, 0)
        if passes[kind] & own & premises.outer:
            raise Rejected(f"{where}: a prefix with longer ones inside passes, which ends at {announcer}")
        foreign = passes[kind] & ~(own & ~repeated)
        heard = {kept for kept, bits in from_above[announcer].items() if bits & foreign}
        if not heard:
            continue
        if kinds[kind]["own_as"] or not kinds[kind]["keeps_path"]:
            raise Rejected(f"{where}: prefixes of others pass, and the listener accepts them if it is in their path")
        if heard - {(numbers[listener], True)}:
            raise Rejected(f"{where}: prefixes from above pass, with paths that need not have {numbers[listener]}")


# --- The whole certificate.

CLAIMS = {
    ("deadlock-free", "none"): {"positions"},
    ("deadlock-free", "any"): {"positions", "levels", "sessions", "session_kinds", "as_numbers"},
    ("deadlock-possible", "listed"): {"failed", "cycle"},
}
"""The lists that each claim needs; those that other claims need are empty."""


def check(document, length):
    """Raise Rejected or Malformed unless the certificate proves its claim."""
    claim = document["claim"], document["failures"]
    if claim not in CLAIMS:
        raise Malformed(f"{claim[0]} with failures {claim[1]} is no claim")
    body = {key: value for key, value in document.items() if key != "seal"}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    if hashlib.sha256(text.encode("ascii")).hexdigest() != document["seal"]:
        raise Rejected("seal: the document was changed after it was sealed")
    document = document | document["premises"] | document["witness"]
    for key in set().union(*CLAIMS.values()) - CLAIMS[claim]:
        if document[key]:
            raise Rejected(f"{key}: expected nothing for this claim")
    premises = Premises(document, length)
    if claim[0] == "deadlock-possible":
        check_cycle(premises, document["cycle"])
    else:
        check_positions(premises, document["positions"])
    if claim[1] == "any":
        check_levels(premises, document)


def check_files(files, folder):
    """Raise Rejected unless the files of the certificate are below a folder, with the same digests."""
    top = Path(folder).resolve()
    for file in files:
        try:
            path = (top / file["path"]).resolve()
            if not path.is_relative_to(top) or not path.is_file():
                raise Rejected(f"files: {file['path']} is no file below the folder")
            with path.open("rb") as stream:
                digest = hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
        except (OSError, ValueError):
            raise Rejected(f"files: {file['path']} cannot be read") from None
        if digest != file["blake2b"]:
            raise Rejected(f"files: {file['path']} has another digest")


def accepted(document, compared):
    """Yield the claim and its conditions."""
    failures = {"none": "", "any": " after any failures", "listed": f" with {len(document['failed'])} failed ports"}
    yield f"accepted: {document['fabric']} is {document['claim']}{failures[document['failures']]}"
    yield f"{len(document['premises']['channels'])} channels, {len(document['premises']['destinations'])} destinations"
    yield f"{len(document['files'])} files, {'with these digests' if compared else 'not compared'}"
    yield from (f"failed: {switch} {port}" for switch, port in document["failed"])
    yield from (f"unknown: {fact['part']}: {fact['missing']}" for fact in document["rests_on"])
    yield from (f"assumption: {sentence}" for sentence in document["assumptions"])


def plain(text):
    """Return a line for a terminal, whatever the certificate has: at most 1,000 printable ASCII characters."""
    return "".join(c if c.isascii() and c.isprintable() else ascii(c)[1:-1] for c in text[:1000])


def main(arguments=None):
    """Check the certificate that the command line names; return the exit code."""
    parser = argparse.ArgumentParser(description="Check a certificate of `nodrop prove --certificate`.")
    parser.add_argument("certificate", help="the file to check")
    parser.add_argument("--files", metavar="DIR", help="compare the digests of the files below this folder")
    options = parser.parse_args(arguments)
    try:
        document, length = read(options.certificate)
        check(document, length)
        if options.files is not None:
            check_files(document["files"], options.files)
    except Rejected as error:
        print(plain(f"rejected: {error}"))
        return 1
    except (Malformed, OSError) as error:
        print(plain(f"no certificate: {error}"), file=sys.stderr)
        return 2
    for line in accepted(document, options.files is not None):
        print(plain(line))
    return 0


if __name__ == "__main__":
    gc.disable()  # millions of lists, and no circles among them
    sys.exit(main())
