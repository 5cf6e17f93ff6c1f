"""The findings that keep an event from being published."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from .events import COMMON_FIELDS, EVENT_FIELDS, EVENT_REASONS, FIELD_RULES, OPTIONAL_FIELDS, FieldRule


@dataclass(frozen=True)
class Finding:
    """A fault of an event. It names a field and never repeats its value."""

    field: str
    """The name of the field; empty where the event as a whole is meant."""
    reason: str


def findings_of(event: object) -> Sequence[Finding]:
    """
    Finds what keeps an event from being published: what the service would refuse, and fields that the event does not have, so that a
    misspelt `id` is not silently ignored. Empty for a valid event.
    """
    if not isinstance(event, Mapping):
        return [Finding("", EVENT_REASONS["notObject"])]
    event = plain(event)
    if "event" not in event:
        return [Finding(field, _MISSING) for field in ["event", *COMMON_FIELDS] if field not in event]
    name = event["event"]
    if not isinstance(name, str):
        return [Finding("event", EVENT_REASONS["notText"])]
    fields = EVENT_FIELDS.get(name)
    if fields is None:
        return [Finding("event", EVENT_REASONS["unknown"])]

    wrong = [finding for finding in (_finding_of(field, event) for field in fields) if finding]
    unknown = [field for field in event if field != "event" and field not in fields]
    return [*wrong, *_unknown_fields(unknown)]


def plain(event: Mapping[Any, Any]) -> dict[Any, Any]:
    """Returns a copy that is judged and sent: with texts that are nothing but texts, so that what is judged is what is sent."""
    return {key: normalised(value) if isinstance(value, str) else value for key, value in event.items()}


def normalised(text: str) -> str:
    """Returns the text with each pair of surrogates as the one character that it is in JSON. A member of an enumeration is its value."""
    return str.encode(text, "utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


_MISSING = "is missing"


def _unknown_fields(names: Sequence[object]) -> Iterable[Finding]:
    """
    Names the first ten that can be names of fields: what is told stays short, and a value that is in place of a name is not told.
    """
    told = [name for name in names if isinstance(name, str) and re.fullmatch(r"\w{1,64}", name, re.ASCII)][:10]
    yield from (Finding(normalised(name), "is no field of this event") for name in told)
    if len(told) < len(names):
        yield Finding("", "it has more fields that are none of this event")


def _finding_of(field: str, event: Mapping[Any, Any]) -> Finding | None:
    if field not in event:
        return None if field in OPTIONAL_FIELDS else Finding(field, _MISSING)
    rule = FIELD_RULES[field]
    return None if _meets(event[field], rule) else Finding(field, rule["reason"])


def _meets(value: object, rule: FieldRule) -> bool:
    if "minimum" in rule:
        # In Python, True is a number; in JSON it is not. Decimals are the numbers of DynamoDB; those without a value have no order.
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
            return False
        if isinstance(value, Decimal) and not value.is_finite():
            return False
        return rule["minimum"] <= value <= rule["maximum"] and value == int(value)
    if not isinstance(value, str) or value == rule.get("reserved"):
        return False
    length = len(normalised(value))
    if length < rule.get("minLength", 0) or length > rule.get("maxLength", length):
        return False
    return "pattern" not in rule or re.fullmatch(rule["pattern"], value) is not None
