"""The order of access lists and their entries in the model: switches match them in this order."""

from collections.abc import Iterable

from nodrop.model.access import AccessEntry, AccessList
from nodrop.model.states import Unknown
from nodrop.model.subject import natural
from nodrop.model.values import replace_fields


def in_order(lists: Iterable[AccessList]) -> tuple[AccessList, ...]:
    """Return access lists by name, with entries in match order and bindings by interface.

    Entries are sorted by falling priority, and by their numbers or names where there is none.
    """
    return by_binding(
        access_list
        if isinstance(access_list.entries, Unknown)
        else replace_fields(access_list, entries=tuple(sorted(access_list.entries, key=_entry_rank)))
        for access_list in lists
    )


def by_binding(lists: Iterable[AccessList]) -> tuple[AccessList, ...]:
    """Return access lists by name, with bindings by interface; their entries stay in the order that they have."""
    return tuple(
        replace_fields(
            acl,
            bindings=tuple(sorted(acl.bindings, key=lambda binding: (natural(binding.interface or ""), binding.stage))),
        )
        for acl in sorted(lists, key=lambda access_list: natural(access_list.name))
    )


def _entry_rank(entry: AccessEntry) -> tuple[int, tuple[tuple[int, int, str], ...]]:
    return -(entry.priority or 0), natural(entry.name)
