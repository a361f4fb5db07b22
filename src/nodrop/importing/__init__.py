"""From configurations to an intent: the inverse of `design`, part by part, checked by building the result.

A module per part gives keys and leftovers (`parts.Found`); `omitted_keys` takes out keys that are left to their
default; `trial_build` builds the intent, reads its files back and reports the facts that differ; `intent_comparison`
does so for any intent.
"""

from itertools import groupby
from operator import itemgetter

from nodrop.importing.additions import SwitchFilesAndSecrets
from nodrop.importing.derived import ImportResult, derive_intent
from nodrop.importing.intent_comparison import IntentCoverage, measure_intent_coverage
from nodrop.locate import load_unchanged_source
from nodrop.model.reading import Reading

__all__ = [
    "ImportResult",
    "IntentCoverage",
    "SwitchFilesAndSecrets",
    "derive_intent",
    "load_switch_files",
    "measure_intent_coverage",
]


def load_switch_files(reading: Reading) -> SwitchFilesAndSecrets:
    """Return the content of the files of a reading's switches; InputProblems where a file has changed since it was
    read.
    """
    bundles = {
        device.name: {source.name: load_unchanged_source(source) for source in reading.sources.get(device.name, ())}
        for device in reading.fabric.devices
    }
    secret: dict[str, list[str]] = {}
    for (device, file), lines in groupby(sorted(reading.secret_lines), key=itemgetter(0, 1)):
        text = bundles.get(device, {}).get(file, b"").decode(errors="replace").splitlines()
        secret.setdefault(device, []).extend(text[line - 1] for _, _, line in lines if line <= len(text))
    return SwitchFilesAndSecrets(bundles=bundles, secret={device: tuple(texts) for device, texts in secret.items()})
