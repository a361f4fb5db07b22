"""The order of access lists and their entries in the model: switches match them in this order."""

from collections.abc import Iterable

from nodrop.model.access import AccessEntry, AccessList
from nodrop.model.states import Unknown
from nodrop.model.subject import natural_sort_key
from nodrop.model.values import replace_fields


def sort_lists_and_entries(lists: Iterable[AccessList]) -> tuple[AccessList, ...]:
    """Return access lists by name, with entries in match order and bindings by interface.

    Entries are sorted by falling priority, and by their numbers or names where there is none.
    """
    return sort_lists_and_bindings(
        access_list
        if isinstance(access_list.entries, Unknown)
        else replace_fields(access_list, entries=tuple(sorted(access_list.entries, key=_entry_sort_key)))
        for access_list in lists
    )


def sort_lists_and_bindings(lists: Iterable[AccessList]) -> tuple[AccessList, ...]:
    """Return access lists by name, with bindings by interface; their entries stay in the order that they have."""
    return tuple(
        replace_fields(
            acl,
            bindings=tuple(
                sorted(acl.bindings, key=lambda binding: (natural_sort_key(binding.interface or ""), binding.stage))
            ),
        )
        for acl in sorted(lists, key=lambda access_list: natural_sort_key(access_list.name))
    )


def _entry_sort_key(entry: AccessEntry) -> tuple[int, tuple[tuple[int, int, str], ...]]:
    return -(entry.priority or 0), natural_sort_key(entry.name)
