"""nodrop.yaml: how the configurations below a folder are judged; in a pyproject.toml, the table [tool.nodrop]."""

from nodrop.config.reading import CONFIG_FILE, Config, find, load, loads
from nodrop.config.schema import ConfigFile, FailOn

__all__ = ["CONFIG_FILE", "Config", "ConfigFile", "FailOn", "find", "load", "loads"]
