"""What a writer makes: a file of a device."""

from nodrop.fabric.values import value


@value
class Artifact:
    """A file to be carried to a switch: the device, its path below the device's folder, and the text."""

    device: str
    path: str
    text: str
