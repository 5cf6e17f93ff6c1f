"""Sends messages as they come, ten a request and a few requests at once."""

import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from .batch import BATCH_SIZE, Queue, Result, send_batch
from .message import Message


class Sender:
    """A sender of at most so many requests at once. As a context it ends its threads."""

    def __init__(self, queue: Queue, concurrency: int, stop: threading.Event | None) -> None:
        self._queue = queue
        self._concurrency = concurrency
        self._stop = stop
        self._pool = ThreadPoolExecutor(concurrency, "emissor-publisher")
        self._batch: list[Message] = []
        self._requests: list[Future[list[Result]]] = []
        self._under_way: set[Future[list[Result]]] = set()

    def __enter__(self) -> "Sender":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def add(self, message: Message) -> None:
        """Takes a message. Returns when the next one can be taken."""
        self._batch.append(message)
        if len(self._batch) == BATCH_SIZE:
            self._send()

    def finish(self) -> list[Result]:
        """Sends what waits for others, and tells what became of all, in the order of the events."""
        if self._batch:
            self._send()
        results = [result for request in self._requests for result in request.result()]
        return sorted(results, key=lambda result: result.index)

    def _send(self) -> None:
        if len(self._under_way) >= self._concurrency:
            _, self._under_way = wait(self._under_way, return_when=FIRST_COMPLETED)
        request = self._pool.submit(send_batch, self._queue, self._batch, self._stop)
        self._requests.append(request)
        self._under_way.add(request)
        self._batch = []
