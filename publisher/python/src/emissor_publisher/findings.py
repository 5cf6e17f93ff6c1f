"""What keeps an event from being published."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .events import EVENT_FIELDS, EVENT_REASONS, FIELD_RULES, OPTIONAL_FIELDS, FieldRule


@dataclass(frozen=True)
class Finding:
    """What is wrong with an event. It names a field and never repeats its value."""

    field: str
    """The name of the field; empty where the event as a whole is meant."""
    reason: str


def findings_of(event: object) -> Sequence[Finding]:
    """
    What keeps an event from being published: what the service would refuse, and fields that the event does not have, so that a
    misspelt `id` is not silently ignored. Empty for a valid event.
    """
    if not isinstance(event, Mapping):
        return [Finding("", EVENT_REASONS["notObject"])]
    name = event.get("event")
    if not isinstance(name, str):
        return [Finding("event", EVENT_REASONS["notText"])]
    fields = EVENT_FIELDS.get(name)
    if fields is None:
        return [Finding("event", EVENT_REASONS["unknown"])]

    wrong = [finding for finding in (_finding_of(field, event) for field in fields) if finding]
    unknown = [field for field in event if field != "event" and field not in fields]
    return [*wrong, *(Finding(str(field), "is no field of this event") for field in unknown)]


def normalised(text: str) -> str:
    """The text with each pair of surrogates as the one character that it is in JSON."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _finding_of(field: str, event: Mapping[Any, Any]) -> Finding | None:
    if field in OPTIONAL_FIELDS and field not in event:
        return None
    rule = FIELD_RULES[field]
    return None if _meets(event.get(field), rule) else Finding(field, rule["reason"])


def _meets(value: object, rule: FieldRule) -> bool:
    if "minimum" in rule:
        # In Python, True is a number; in JSON it is not.
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        return value == value // 1 and rule["minimum"] <= value <= rule["maximum"]
    if not isinstance(value, str):
        return False
    if "pattern" in rule:
        return re.fullmatch(rule["pattern"], value) is not None
    return rule["minLength"] <= len(normalised(value)) <= rule["maxLength"]
