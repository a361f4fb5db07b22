"""nodrop.yaml: how the configurations below a folder are judged; in a pyproject.toml, the table [tool.nodrop]."""

from nodrop.config.reading import CONFIG_FILE, Config, find_config_file, load, loads
from nodrop.config.schema import ConfigFile, FailOn

__all__ = ["CONFIG_FILE", "Config", "ConfigFile", "FailOn", "find_config_file", "load", "loads"]
