"""Publishes business events to Emissor's events queue."""

from . import events
from .errors import InterruptedPublishError, RefusedEventError, SendError
from .events import *
from .findings import Finding, findings_of
from .message import webhook_id_of
from .outcome import FailedEvent, Outcome, RefusedEvent, SentEvent
from .publisher import Publisher, create_publisher

__all__ = [
    "FailedEvent",
    "Finding",
    "InterruptedPublishError",
    "Outcome",
    "Publisher",
    "RefusedEvent",
    "RefusedEventError",
    "SendError",
    "SentEvent",
    "create_publisher",
    "findings_of",
    "webhook_id_of",
]
__all__ += events.__all__
