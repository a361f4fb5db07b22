"""Which switches cables join: what is not joined is another fabric, or a device of which nothing is known."""

from collections.abc import Mapping

from nodrop.model.index import Index


def islands(index: Index) -> Mapping[str, str]:
    """By device, one device of all that cables join, itself included."""
    root = {name: name for name in index.devices}

    def find_root(name: str) -> str:
        while root[name] != name:
            root[name] = name = root[root[name]]
        return name

    for link in index.fabric.links:
        if link.a.node in root and link.b.node in root:
            root[find_root(link.a.node)] = find_root(link.b.node)
    return {name: find_root(name) for name in root}
