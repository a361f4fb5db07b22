"""Orders and circles of a directed graph of numbers, in time linear in its edges."""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

SuccessorGraph = Mapping[int, Sequence[int]]


def topological_depth_by_node(after: SuccessorGraph) -> dict[int, int] | None:
    """Return the depth of every node, which is less than that of each node that it leads to; None with a circle.

    The depth is the length of the longest way that leads to the node (Kahn, Communications of the ACM 1962).
    """
    waits = Counter(chain.from_iterable(after.values()))
    depth = {node: 0 for node in after if node not in waits}
    level = list(depth)
    count = 0
    while level:
        count += 1
        following: list[int] = []
        for far, ended_waits in Counter(chain.from_iterable([after.get(node, ()) for node in level])).items():
            waits[far] -= ended_waits
            if not waits[far]:
                following.append(far)
        depth.update(dict.fromkeys(following, count))
        level = following
    return None if any(waits.values()) else depth


def components_with_circles(after: SuccessorGraph) -> list[list[int]]:
    """Return the sets of nodes that lie on a common circle, each sorted (Tarjan, SIAM Journal on Computing 1972)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    stack: list[int] = []
    components: list[list[int]] = []
    for root in after:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        work = [(root, iter(after.get(root, ())))]
        while work:
            node, nodes = work[-1]
            for far in nodes:
                if far not in index:
                    index[far] = low[far] = len(index)
                    stack.append(far)
                    on_stack.add(far)
                    work.append((far, iter(after.get(far, ()))))
                    break
                if far in on_stack:
                    low[node] = min(low[node], index[far])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member == node:
                            break
                    if len(component) > 1 or node in after.get(node, ()):
                        components.append(sorted(component))
    return components


def find_shortest_circle(after: SuccessorGraph, starts: Iterable[int], inside: frozenset[int]) -> list[int]:
    """Return the shortest circle through any of `starts` within a set of nodes; empty without one.

    Of several equally short ones it is that of the first start. It begins with that start.
    """
    best: list[int] = []
    for start in starts:
        found = _find_circle_through(after, start, inside, len(best) - 1 if best else None)
        if found and (not best or len(found) < len(best)):
            best = found
    return best


def _find_circle_through(after: SuccessorGraph, start: int, inside: frozenset[int], most: int | None) -> list[int]:
    came: dict[int, int] = {}
    waiting = deque([(start, 1)])
    while waiting:
        node, length = waiting.popleft()
        for far in after.get(node, ()):
            if far == start:
                circle = [node]
                while circle[-1] != start:
                    circle.append(came[circle[-1]])
                return circle[::-1]
            if far in inside and far not in came and (most is None or length < most):
                came[far] = node
                waiting.append((far, length + 1))
    return []
