"""The outcome of events."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from .findings import Finding


@dataclass(frozen=True)
class SentEvent:
    """An event that the queue has accepted."""

    index: int
    """Its place among the events given, from 0."""
    id: str
    """The event's `id`: the caller's, or the one that was made."""
    webhook_id: str
    """The value that the deliveries of the event carry in the header `webhook-id`."""
    message_id: str
    """The queue's id of the message."""


@dataclass(frozen=True)
class RefusedEvent:
    """An event that is not valid, and was not sent."""

    index: int
    findings: Sequence[Finding]


@dataclass(frozen=True)
class FailedEvent:
    """An event that could not be sent, or of which it is not known. To publish it again with this `id` does no harm."""

    index: int
    id: str
    webhook_id: str
    code: str
    """The error code of SQS, or the name of the SDK's error; `Aborted` where `stop` was set."""
    retryable: bool
    """True where it can succeed later although nobody changes anything."""
    cause: Exception | None = field(default=None, repr=False, compare=False)
    """The exception that the client raised. `repr` leaves it out: its text may repeat what was sent."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of events, each list in their order."""

    sent: Sequence[SentEvent]
    refused: Sequence[RefusedEvent]
    failed: Sequence[FailedEvent]
