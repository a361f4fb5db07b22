"""The names of definitions in the published schemas of users' files.

Editors and programs point at these names, so a class that gets a clearer one keeps the name that was published.
"""

from collections.abc import Mapping

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

PUBLISHED_NAME_BY_CLASS: Mapping[str, str] = {
    "CableSheetFileName": "CableFile",
    "CableSheetTopology": "CableSheet",
    "EcnThresholdBand": "Ecn",
    "EndpointGroup": "Endpoints",
    "ExampleEntry": "ExampleFile",
    "GoodAndBadExamples": "ExamplesFile",
    "HarmlessUnknownLine": "Harmless",
    "HighFrequencyTelemetry": "HighFrequency",
    "HostNicSettings": "Hosts",
    "HostPortEntry": "Port",
    "ManagementServices": "Services",
    "OptionEntry": "OptionFile",
    "OtherFabricEntry": "BesideFile",
    "OwnerPolicy": "Policy",
    "PassThroughSettings": "Additions",
    "PfcWatchdogs": "Watchdogs",
    "PortShareBand": "Share",
    "SideWatchdog": "Watchdog",
    "StuckQueueConditions": "Stuck",
    "SuppressedFindings": "Suppress",
    "SwitchAndHostNames": "Names",
    "TrafficClassEntry": "Class",
    "TrimmedPackets": "Trimming",
    "ValidatorObservationEntry": "SeenFile",
    "WatchdogTimerBand": "Watchdog",
}


class PublishedSchemaGenerator(GenerateJsonSchema):
    """Pydantic's generator of schemas, with the published names of classes."""

    def normalize_name(self, name: str) -> str:
        """Return the name of a class as definitions have it."""
        return super().normalize_name(PUBLISHED_NAME_BY_CLASS.get(name, name))

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Return the schema of a class with its published name as the title."""
        made = super().model_schema(schema)
        name = schema["cls"].__name__
        return made | {"title": PUBLISHED_NAME_BY_CLASS[name]} if name in PUBLISHED_NAME_BY_CLASS else made
