"""Numbers of switches and hosts: from their addresses, AS numbers and places, and between equals from their names.

A number decides addresses and ports, so of several numbers those count that explain most addresses.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from ipaddress import IPv4Interface
from itertools import count, pairwise

from nodrop.design.addressing import pool_divisor_of_tier
from nodrop.importing.pools import addresses_of
from nodrop.model.fabric import Device, Management
from nodrop.model.routing import Bgp
from nodrop.model.states import known_rows

_DIGITS_PATTERN = re.compile("[0-9]{1,6}")
_MAX_NUMBERS_PER_NAME = 8
_MOST_ID = 10**6
_MAX_HOSTS_PER_SWITCH = 4096
"""Hosts that share a switch, as the key `leaf_group` has it."""

_ROUND_ASN_STEP = 100
"""AS numbers of a group usually begin behind a multiple of it."""

NodeNumbers = list[int]


def number_switches(devices: Sequence[Device], by_name: NodeNumbers, tier: int) -> NodeNumbers:
    """Return numbers for the switches of a tier: those that explain most of their addresses, of equals `by_name`.

    Numbers explain addresses that are as far from them as most; then those that begin where a plan lets them begin.
    """
    if not devices:
        return by_name
    facts = [fact for fact in _addresses_and_asns_of_switches(devices) if all(value is not None for value in fact)]
    names = [device.name for device in devices]
    candidates = [by_name, *(column for column in _numbers_in_names_by_position(names) if _are_valid_numbers(column))]
    candidates += [
        fixed
        for column in (by_name, *_numbers_in_names_by_position(names))
        for fact in facts
        if (fixed := _numbers_from_fact(column, fact))
    ]
    by_management = numbers_by_management(devices, tier)
    if len(devices) == 1:
        return by_management or by_name
    candidates += [numbers for numbers in (by_management, _numbers_by_loopback(devices)) if numbers]
    return max(
        candidates,
        key=lambda numbers: (
            _count_explained_facts(numbers, facts),
            _count_planned_addresses(numbers, devices, by_management),
        ),
    )


def _numbers_by_loopback(devices: Sequence[Device]) -> NodeNumbers:
    """Return the least numbers with which a plan gives out the loopbacks of a tier; none where it does not."""
    addresses = [address for device in devices if (address := _loopback_address(device)) is not None]
    if len(addresses) < len(devices):
        return []
    span = (min(addresses) ^ max(addresses)).bit_length()
    sizes = (1 << bits for bits in range(span, _MOST_ID.bit_length()))
    found = ([address % size for address in addresses] for size in sizes)
    return next((numbers for numbers in found if _are_valid_numbers(numbers)), [])


def _count_planned_addresses(numbers: NodeNumbers, devices: Sequence[Device], by_management: NodeNumbers) -> int:
    """Return how many addresses and AS numbers are where a plan puts switches of these numbers.

    Those are management addresses, loopbacks if the share of a pool that they are in begins at a power of two that
    holds all numbers, and AS numbers that differ if the one before the first is round.
    """
    planned = sum(number == other for number, other in zip(numbers, by_management, strict=True)) if by_management else 0
    loopbacks = [_loopback_address(device) for device in devices]
    asns = [device.bgp.asn if isinstance(device.bgp, Bgp) else None for device in devices]
    size = 1 << max(numbers).bit_length()
    planned += _count_from_multiple(numbers, loopbacks, size)
    return planned + (_count_from_multiple(numbers, asns, _ROUND_ASN_STEP) if len(set(asns)) == len(asns) else 0)


def _count_from_multiple(numbers: NodeNumbers, fact: Sequence[int | None], size: int) -> int:
    """Return how many values are as far from a multiple of a size as their numbers say, at the best multiple."""
    starts = Counter(value - number for number, value in zip(numbers, fact, strict=True) if value is not None)
    return max((count for start, count in starts.items() if start >= 0 and start % size == 0), default=0)


def number_hosts(
    names: Sequence[str],
    by_name: NodeNumbers,
    blocks: Sequence[int],
    steps: Sequence[int | None] = (),
    most_per_block: int = _MAX_HOSTS_PER_SWITCH,
) -> NodeNumbers:
    """Return numbers for the hosts of a group, whose names are in the order of their places at switches.

    `blocks` are the switches, or sets of them, that they are at, from 0, and `steps` how far apart the numbers of each
    host and the next are by their ports. Numbers by which hosts share switches evenly come first, then those in order,
    those that fit most steps, those `by_name`, and those by which fewest hosts share a switch. Where names count from
    elsewhere, as node1001 does, so that no number in them is a place of the `most_per_block` at a switch, they are
    counted from 1.
    """
    columns = [by_name, *_numbers_in_names_by_position(names)]
    candidates = [column for column in columns if _are_valid_numbers(column)]
    candidates += [fill_number_gaps(_drop_outlying_numbers(names, column)) for column in columns]

    def rank(numbers: NodeNumbers) -> tuple[bool, bool, int, bool, int]:
        each = _find_hosts_per_block(numbers, blocks)
        fitting = sum(there - here == step for (here, there), step in zip(pairwise(numbers), steps, strict=False))
        return each > 0, numbers == sorted(numbers), fitting, numbers == by_name, -each

    best = max(candidates, key=rank)
    if len(names) == 1 or 0 < _find_hosts_per_block(best, blocks) <= most_per_block or len(blocks) < len(names):
        return best
    columns = [*filter(_are_valid_numbers, columns), [*range(1, len(names) + 1)]]
    moved_columns = (_move_into_blocks(column, blocks, most_per_block) for column in columns)
    return max(filter(None, moved_columns), key=lambda numbers: rank(numbers)[:3], default=best)


def _move_into_blocks(column: NodeNumbers, blocks: Sequence[int], most_per_block: int) -> NodeNumbers:
    """Return the numbers of a column, moved so that its least is the first of the first block; none if none fits."""
    least, first_block = min(column), min(blocks)
    for each in range(max(Counter(blocks).values()), most_per_block + 1):
        moved = [number - least + 1 + first_block * each for number in column]
        if all((number - 1) // each == block for number, block in zip(moved, blocks, strict=True)):
            return moved
    return []


def _find_hosts_per_block(numbers: NodeNumbers, blocks: Sequence[int]) -> int:
    """Return the least number of hosts that share each switch, or set of them, by their numbers; 0 if none does."""
    if len(numbers) != len(blocks):
        return 0
    return next(
        (
            each
            for each in range(1, min(max(numbers), _MAX_HOSTS_PER_SWITCH) + 1)
            if all((number - 1) // each == block for number, block in zip(numbers, blocks, strict=True))
        ),
        0,
    )


def _addresses_and_asns_of_switches(devices: Sequence[Device]) -> Iterator[list[int | None]]:
    """Yield what follows from a switch's number where a plan gives it out: addresses and AS numbers."""
    readers: tuple[Callable[[Device], int | None], ...] = (
        _loopback_address, _management_address, lambda device: device.bgp.asn if isinstance(device.bgp, Bgp) else None,
    )  # fmt: skip
    for read in readers:
        yield [read(device) for device in devices]


def _loopback_address(device: Device) -> int | None:
    texts = [text for loopback in known_rows(device.loopbacks) for text in loopback.addresses]
    own_addresses = [address for version in (4, 6) for address in addresses_of(texts, version)]
    return int(own_addresses[0].ip) if own_addresses else None


def _management_interface(device: Device) -> IPv4Interface | None:
    if not isinstance(device.management, Management):
        return None
    addresses = addresses_of(device.management.addresses, 4)
    return addresses[0] if addresses and isinstance(addresses[0], IPv4Interface) else None


def _management_address(device: Device) -> int | None:
    interface = _management_interface(device)
    return int(interface.ip) if interface else None


def numbers_by_management(devices: Sequence[Device], tier: int) -> NodeNumbers:
    """Return the numbers with which a plan gives out the management addresses of a tier; none where it does not."""
    numbers = []
    for device in devices:
        interface = _management_interface(device)
        if interface is None:
            return []
        share = max(interface.network.num_addresses // pool_divisor_of_tier(tier), 1)
        numbers.append((int(interface.ip) - int(interface.network.network_address)) % share)
    return numbers if _are_valid_numbers(numbers) else []


def _numbers_in_names_by_position(names: Sequence[str]) -> list[NodeNumbers]:
    """Return the numbers in names by place, from the left and from the right; 0 where a name has none there."""
    found = [[int(digits) for digits in _DIGITS_PATTERN.findall(name)] for name in names]
    width = min(max(map(len, found), default=0), _MAX_NUMBERS_PER_NAME)
    places = [*range(-1, -width - 1, -1), *range(width)]
    return [[numbers[place] if -len(numbers) <= place < len(numbers) else 0 for numbers in found] for place in places]


def _are_valid_numbers(numbers: Iterable[int]) -> bool:
    """Whether numbers can be those of switches or hosts: each from 1, and once."""
    listed = list(numbers)
    return all(0 < number < _MOST_ID for number in listed) and len(set(listed)) == len(listed)


def _numbers_from_fact(column: NodeNumbers, fact: Sequence[int | None]) -> NodeNumbers:
    """Return the numbers that a fact has if it follows from most of a column; none if it does not."""
    base, support = Counter((value or 0) - number for number, value in zip(column, fact, strict=True)).most_common(1)[0]
    numbers = [(value or 0) - base for value in fact]
    return numbers if 2 * support > len(column) and _are_valid_numbers(numbers) else []


def _count_explained_facts(numbers: NodeNumbers, facts: Sequence[Sequence[int | None]]) -> int:
    """Return how many facts follow from numbers: of each kind those that are as far from them as most."""
    return sum(
        Counter((value or 0) - number for number, value in zip(numbers, fact, strict=True)).most_common(1)[0][1]
        for fact in facts
    )


def _drop_outlying_numbers(names: Sequence[str], column: NodeNumbers) -> NodeNumbers:
    """Return a column without the numbers of names that differ from most in more than digits."""
    kinds = [_DIGITS_PATTERN.sub("", name) for name in names]
    usual_kind = Counter(kinds).most_common(1)[0][0]
    return [number if kind == usual_kind else 0 for kind, number in zip(kinds, column, strict=True)]


def fill_number_gaps(column: NodeNumbers) -> NodeNumbers:
    """Return a column with missing or repeated numbers replaced by the next ones."""
    kept = {number for number, times in Counter(column).items() if times == 1 and number}
    taken = set(kept)
    numbers: NodeNumbers = []
    for number in column:
        if number not in kept:
            number = next(free for free in count((numbers[-1] if numbers else 0) + 1) if free not in taken)
            taken.add(number)
        numbers.append(number)
    return numbers
