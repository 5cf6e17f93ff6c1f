"""Publishes events to the events queue."""

import threading
import uuid
from collections.abc import Generator, Iterable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

import boto3
from botocore.config import Config

from .batch import ABORTED, Queue, send_batch
from .errors import InterruptedPublishError, RefusedEventError, SendError
from .events import BusinessEvent
from .findings import findings_of, plain
from .message import Message, message_of
from .outcome import FailedEvent, Outcome, RefusedEvent, SentEvent
from .sender import Sender


def create_publisher(
    queue_url: str | None, *, client: Any = None, attempts: int = 5, concurrency: int = 5
) -> "Publisher":
    """
    Makes a publisher.

    `queue_url` is the address of the events queue: the service's output `EventsQueueUrl`. `client` is a client of boto3 for SQS; by
    default one with the settings of the environment. It repeats requests that fail as a whole, as it is set up to. `attempts` is
    how often a message is sent at most while the queue refuses it for the moment. `concurrency` is how many requests, of up to
    ten messages each, are under way at most.

    Raises ValueError when an option cannot be used, and TypeError when `client` is no client for SQS.
    """
    address = urlsplit(queue_url or "")
    if not address.scheme or not address.netloc:
        raise ValueError("queue_url must be the address of the events queue.")
    for name, count in (("attempts", attempts), ("concurrency", concurrency)):
        if not isinstance(count, int) or count < 1:
            raise ValueError(f"{name} must be a whole number from 1.")
    if client is not None and not callable(getattr(client, "send_message_batch", None)):
        raise TypeError("client must be a client of boto3 for SQS.")
    if client is None:
        config = Config(max_pool_connections=max(10, concurrency), connect_timeout=3, read_timeout=10)
        client = boto3.client("sqs", config=config)
    return Publisher(Queue(client, cast(str, queue_url), attempts), concurrency)


class Publisher:
    """Publishes events to the events queue. `create_publisher` makes one. Threads may share it."""

    def __init__(self, queue: Queue, concurrency: int) -> None:
        self._queue = queue
        self._concurrency = concurrency

    def publish(self, event: BusinessEvent, *, stop: threading.Event | None = None) -> SentEvent:
        """
        Publishes one event.

        Raises RefusedEventError when it is not valid: it was not sent. Raises SendError when it could not be sent, or `stop` was
        set before it was. A request that is under way ends by itself.
        """
        prepared = _prepare(event, 0)
        if isinstance(prepared, RefusedEvent):
            raise RefusedEventError(prepared.findings)
        [result] = send_batch(self._queue, [prepared], stop)
        if isinstance(result, FailedEvent):
            raise SendError(result)
        return result

    def publish_all(self, events: Iterable[BusinessEvent], *, stop: threading.Event | None = None) -> Outcome:
        """
        Publishes any number of events, ten a request. Each is judged for itself: one that is not valid keeps no other from being
        sent. Events wait until ten are together or there are no more: publish those that come slowly one by one.

        Raises InterruptedPublishError when `stop` was set or the iterable raised. `stop` is looked at between two events: while the
        iterable makes wait, it ends nothing. Raises TypeError when it is given no iterable of events, such as one event.
        """
        if isinstance(events, (Mapping, str, bytes)) or not isinstance(events, Iterable):
            raise TypeError("events must be a list, or another iterable of events.")
        refused: list[RefusedEvent] = []
        cause: Exception | None = None
        index = 0
        with Sender(self._queue, self._concurrency, stop) as sender:
            iterator = iter(events)
            while not (interrupted := stop is not None and stop.is_set()):
                try:
                    event = next(iterator)
                except StopIteration:
                    break
                except Exception as error:
                    interrupted, cause = True, error
                    break
                prepared = _prepare(event, index)
                index += 1
                if isinstance(prepared, RefusedEvent):
                    refused.append(prepared)
                else:
                    sender.add(prepared)
            if interrupted and isinstance(iterator, Generator):
                iterator.close()
            results = sender.finish()  # also of what was taken before an interruption

        failed = [result for result in results if isinstance(result, FailedEvent)]
        outcome = Outcome([result for result in results if isinstance(result, SentEvent)], refused, failed)
        if interrupted or any(event.code == ABORTED for event in failed):
            raise InterruptedPublishError(outcome) from cause
        return outcome


def _prepare(event: object, index: int) -> Message | RefusedEvent:
    """Returns the message of an event, or what keeps it from being one."""
    copy = plain(event) if isinstance(event, Mapping) else event
    findings = findings_of(copy)
    if findings:
        return RefusedEvent(index, findings)
    return message_of(cast(Mapping[str, Any], copy), index, lambda: str(uuid.uuid4()))
