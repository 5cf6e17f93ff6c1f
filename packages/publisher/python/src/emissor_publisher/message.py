"""An event as a message of the queue."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .events import EVENT_FIELDS, FIELD_RULES
from .findings import normalised


@dataclass(frozen=True)
class Message:
    """A valid event as a message of the queue."""

    index: int
    id: str
    webhook_id: str
    account: str
    body: str


def webhook_id_of(account: str, event_name: str, id: str) -> str:
    """Returns what the deliveries of an event carry in the header `webhook-id`, given the event's `id`."""
    parts = [normalised(part) for part in (account, event_name, id)]
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    # As the service writes it: surrogates without their other half are escaped, and all other characters are themselves.
    text = re.sub("[\ud800-\udfff]", lambda lone: f"\\u{ord(lone.group()):04x}", text)
    digest = hashlib.sha256(text.encode()).digest()
    return f"evt_{base64.urlsafe_b64encode(digest).decode()[:27]}"


def message_of(event: Mapping[str, Any], index: int, make_id: Callable[[], str]) -> Message:
    """Makes the message of a valid event. Its size is at most 8 KiB."""
    name = normalised(event["event"])
    values = {field: _plain(field, event[field]) for field in EVENT_FIELDS[name] if field in event}
    values.setdefault("id", make_id())
    account, id = values["id_conta"], values["id"]
    # In ASCII: SQS refuses the characters U+FFFE and U+FFFF, and with them the whole request.
    body = json.dumps({"event": name, **values}, separators=(",", ":"))
    return Message(index, id, webhook_id_of(account, name, id), account, body)


def _plain(field: str, value: Any) -> Any:
    """Returns 7.0, Decimal(7) and members of enumerations as what they stand for."""
    return int(value) if "minimum" in FIELD_RULES[field] else normalised(value)
