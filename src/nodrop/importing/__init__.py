"""From configurations to an intent: the inverse of `design`, part by part, tried by building what was found.

A module per part gives keys and what it leaves over (`found.Found`); `leaving` takes out what is left to its default;
`trying` builds the intent, reads its files back and says which facts are not as they were; `holding` does so for any
intent.
"""

from nodrop.fabric.reading import Reading
from nodrop.importing.additions import Files
from nodrop.importing.derived import Imported, derive
from nodrop.importing.holding import Held, hold
from nodrop.locate import load

__all__ = ["Files", "Held", "Imported", "derive", "files_of", "hold"]


def files_of(reading: Reading) -> Files:
    """Return what the files of a reading's switches say; InputProblems where one is not as it was read."""
    bundles = {
        device.name: {source.name: load(source) for source in reading.sources.get(device.name, ())}
        for device in reading.fabric.devices
    }
    secret: dict[str, tuple[str, ...]] = {}
    for device, file, line in sorted(reading.secret_lines):
        text = bundles.get(device, {}).get(file, b"").decode(errors="replace").splitlines()
        secret[device] = (*secret.get(device, ()), *text[line - 1 : line])
    return Files(bundles=bundles, secret=secret)
