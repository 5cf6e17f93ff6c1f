"""One request to the queue."""

import random
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Union

from botocore.exceptions import ClientError, ConnectionError, HTTPClientError, SSLError

from .message import Message
from .outcome import FailedEvent, SentEvent

BATCH_SIZE = 10
"""The most messages that SQS takes in a request. Ten of ours are 80 KiB at most, of the 1 MiB that it takes."""

ABORTED = "Aborted"
"""The code of what `stop` has ended."""

Result = Union[SentEvent, FailedEvent]


@dataclass(frozen=True)
class Queue:
    """The queue, and the way of sending to it."""

    client: Any
    queue_url: str
    attempts: int
    """The most times that a message is sent while the queue refuses it for the moment."""


def send_batch(queue: Queue, messages: Sequence[Message], stop: threading.Event | None) -> list[Result]:
    """
    Sends up to ten messages, each in the group of its account. Messages that the queue refuses for the moment are sent again, after
    a wait that doubles. A request that fails as a whole is not: the client has repeated it. Never raises.
    """
    results: list[Result] = []
    waiting = messages
    attempt = 0
    while True:
        attempt += 1
        ended, refused = _send(queue, waiting, stop)
        results.extend(ended)
        if not refused:
            return results
        if attempt == queue.attempts or not _waited(attempt, stop):
            aborted = stop is not None and stop.is_set()
            return results + [_failed(message, ABORTED if aborted else code, True) for message, code in refused]
        waiting = [message for message, _ in refused]


def _send(
    queue: Queue, messages: Sequence[Message], stop: threading.Event | None
) -> tuple[list[Result], list[tuple[Message, str]]]:
    """Sends once. Returns what is over, and what the queue refused, with its code, without its being the message's fault."""
    if stop is not None and stop.is_set():
        return [_failed(message, ABORTED, True) for message in messages], []
    entries = [
        {"Id": str(position), "MessageBody": message.body, "MessageGroupId": message.account}
        for position, message in enumerate(messages)
    ]
    try:
        answer = queue.client.send_message_batch(QueueUrl=queue.queue_url, Entries=entries)
    except Exception as error:
        code, can_pass = _code_of(error), _can_pass(error)
        return [_failed(message, code, can_pass, error) for message in messages], []

    taken = {entry["Id"]: entry["MessageId"] for entry in answer.get("Successful", [])}
    failed = {entry["Id"]: entry for entry in answer.get("Failed", [])}
    ended: list[Result] = []
    refused: list[tuple[Message, str]] = []
    for position, message in enumerate(messages):
        entry = failed.get(str(position), {"Code": "Unanswered", "SenderFault": False})
        if str(position) in taken:
            ended.append(SentEvent(message.index, message.id, message.webhook_id, taken[str(position)]))
        elif entry["SenderFault"] and "Throttl" not in entry["Code"]:  # SQS calls throttling the sender's fault
            ended.append(_failed(message, entry["Code"], False))
        else:
            refused.append((message, entry["Code"]))
    return ended, refused


def _failed(message: Message, code: str, retryable: bool, cause: Exception | None = None) -> FailedEvent:
    return FailedEvent(message.index, message.id, message.webhook_id, code, retryable, cause)


def _waited(attempt: int, stop: threading.Event | None) -> bool:
    """Waits up to 0.1 s, 0.2 s, 0.4 s, … and 5 s at most. Returns whether `stop` was not set meanwhile."""
    longest = min(0.1 * 2 ** (attempt - 1), 5)
    return not (stop or threading.Event()).wait(longest * random.uniform(0.5, 1))


def _code_of(error: Exception) -> str:
    """Returns the error's code or name; never its text, which could repeat what was sent."""
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Code", "ClientError"))
    return type(error).__name__


def _can_pass(error: Exception) -> bool:
    """Returns whether a request that failed as a whole can succeed later although nobody changes anything."""
    if isinstance(error, ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return status >= 500 or status == 429 or "Throttl" in _code_of(error)
    return isinstance(error, (ConnectionError, HTTPClientError)) and not isinstance(error, SSLError)
