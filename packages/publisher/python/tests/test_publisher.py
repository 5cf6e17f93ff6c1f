"""The publisher, with a queue of its own that behaves as told."""

import json
import threading
import unittest
from decimal import Decimal
from enum import Enum

from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError
from emissor_publisher import InterruptedPublishError, RefusedEventError, SendError, create_publisher, webhook_id_of

URL = "https://sqs.sa-east-1.amazonaws.com/000000000000/events"


class FakeClient:
    """Stands in for boto3's client. `judge` gives None, or the code and sender fault of a refusal; `receive` may raise."""

    def __init__(self, judge=lambda demand, time: None, receive=lambda: None):
        self.requests = []
        self._judge = judge
        self._receive = receive
        self._times = {}
        self._lock = threading.Lock()
        self._under_way = 0
        self.most_at_once = 0

    def send_message_batch(self, *, QueueUrl, Entries):
        with self._lock:
            self.requests.append(Entries)
            self._under_way += 1
            self.most_at_once = max(self.most_at_once, self._under_way)
        try:
            self._receive()
            return self._answer(Entries)
        finally:
            with self._lock:
                self._under_way -= 1

    def _answer(self, entries):
        answer = {"Successful": [], "Failed": []}
        for entry in entries:
            demand = json.loads(entry["MessageBody"])["id_demanda"]
            with self._lock:
                time = self._times[demand] = self._times.get(demand, -1) + 1
            refusal = self._judge(demand, time)
            if refusal is None:
                answer["Successful"].append({"Id": entry["Id"], "MessageId": f"message-{demand}"})
            else:
                code, fault = refusal
                answer["Failed"].append(
                    {"Id": entry["Id"], "Code": code, "SenderFault": fault, "Message": entry["MessageBody"]}
                )
        return answer


def event(demand, account="acme"):
    return {"id_conta": account, "event": "demanda.criada", "id_demanda": demand, "id": f"demand-{demand}"}


def events(count):
    return [event(number + 1, f"conta-{number % 3}") for number in range(count)]


def raising(error):
    def receive():
        raise error

    return receive


def client_error(status, code):
    return ClientError(
        {"Error": {"Code": code, "Message": "canary"}, "ResponseMetadata": {"HTTPStatusCode": status}},
        "SendMessageBatch",
    )


class OneEvent(unittest.TestCase):
    def test_is_sent_in_the_group_of_its_account(self):
        client = FakeClient()
        sent = create_publisher(URL, client=client).publish(event(7))
        [[entry]] = client.requests
        self.assertEqual(entry["MessageGroupId"], "acme")
        self.assertEqual(json.loads(entry["MessageBody"]), event(7))
        self.assertEqual((sent.index, sent.id, sent.message_id), (0, "demand-7", "message-7"))
        self.assertEqual(sent.webhook_id, webhook_id_of("acme", "demanda.criada", "demand-7"))

    def test_gets_an_id_that_stays(self):
        client = FakeClient(judge=lambda _, time: ("ThrottlingException", False) if time < 2 else None)
        without = {key: value for key, value in event(7).items() if key != "id"}
        sent = create_publisher(URL, client=client).publish(without)
        self.assertRegex(sent.id, "^[0-9a-f-]{36}$")
        self.assertEqual(sent.webhook_id, webhook_id_of("acme", "demanda.criada", sent.id))
        self.assertEqual(len({entry["MessageBody"] for [entry] in client.requests}), 1)
        self.assertEqual(len(client.requests), 3)

    def test_that_is_not_valid_is_not_sent(self):
        client = FakeClient()
        with self.assertRaises(RefusedEventError) as caught:
            create_publisher(URL, client=client).publish({**event(0, "acme inc"), "ID": "canary"})
        self.assertEqual([finding.field for finding in caught.exception.findings], ["id_conta", "id_demanda", "ID"])
        self.assertNotIn("canary", str(caught.exception))
        self.assertEqual(client.requests, [])

    def test_that_fails_tells_whether_to_try_again(self):
        cases = [
            (FakeClient(judge=lambda *_: ("ThrottlingException", False)), 3, "ThrottlingException", True),
            (FakeClient(judge=lambda *_: ("RequestThrottled", True)), 3, "RequestThrottled", True),
            (FakeClient(judge=lambda *_: ("InvalidMessageContents", True)), 1, "InvalidMessageContents", False),
            (FakeClient(receive=raising(client_error(403, "AccessDenied"))), 1, "AccessDenied", False),
            (FakeClient(receive=raising(client_error(400, "RequestThrottled"))), 1, "RequestThrottled", True),
            (FakeClient(receive=raising(client_error(500, "InternalFailure"))), 1, "InternalFailure", True),
            (
                FakeClient(receive=raising(EndpointConnectionError(endpoint_url=URL))),
                1,
                "EndpointConnectionError",
                True,
            ),
            (FakeClient(receive=raising(NoCredentialsError())), 1, "NoCredentialsError", False),
        ]
        for client, requests, code, retryable in cases:
            with self.subTest(code):
                with self.assertRaises(SendError) as caught:
                    create_publisher(URL, client=client, attempts=3).publish({**event(7), "id": "canary"})
                failed = caught.exception.event
                self.assertEqual((failed.code, failed.retryable, failed.id), (code, retryable, "canary"))
                self.assertEqual(len(client.requests), requests)
                self.assertNotIn("canary", str(caught.exception))

    def test_that_fails_keeps_what_the_client_raised(self):
        error = client_error(403, "AccessDenied")
        publisher = create_publisher(URL, client=FakeClient(receive=raising(error)))
        with self.assertRaises(SendError) as caught:
            publisher.publish(event(7))
        self.assertIs(caught.exception.__cause__, error)
        [failed] = publisher.publish_all([event(7)]).failed
        self.assertIs(failed.cause, error)
        self.assertNotIn("canary", repr(failed))

    def test_is_not_sent_once_stop_is_set(self):
        client, stop = FakeClient(), threading.Event()
        stop.set()
        with self.assertRaises(SendError) as caught:
            create_publisher(URL, client=client).publish(event(7), stop=stop)
        self.assertEqual((caught.exception.event.code, caught.exception.event.retryable), ("Aborted", True))
        self.assertEqual(client.requests, [])

    def test_may_have_a_member_of_an_enumeration_as_its_name(self):
        class Name(str, Enum):
            CREATED = "demanda.criada"

        client = FakeClient()
        sent = create_publisher(URL, client=client).publish({**event(7), "event": Name.CREATED})
        self.assertEqual(sent.webhook_id, webhook_id_of("acme", "demanda.criada", "demand-7"))
        self.assertEqual(json.loads(client.requests[0][0]["MessageBody"])["event"], "demanda.criada")

    def test_is_judged_by_the_text_that_is_sent(self):
        class Mask(str):
            def encode(self, *_):
                return "another account".encode("utf-16-le")

        client = FakeClient()
        create_publisher(URL, client=client).publish(event(7, Mask("acme")))
        [[entry]] = client.requests
        self.assertEqual((json.loads(entry["MessageBody"])["id_conta"], entry["MessageGroupId"]), ("acme", "acme"))

    def test_may_have_decimals_that_are_whole_numbers(self):
        client = FakeClient()
        publisher = create_publisher(URL, client=client)
        publisher.publish({**event(7), "id_demanda": Decimal("7.0")})
        self.assertEqual(json.loads(client.requests[0][0]["MessageBody"])["id_demanda"], 7)
        for wrong in ("7.5", "0", "NaN", "sNaN", "Infinity", "1E+999999", "9007199254740992"):
            with self.subTest(wrong), self.assertRaises(RefusedEventError):
                publisher.publish({**event(7), "id_demanda": Decimal(wrong)})

    def test_names_no_fields_but_those_that_can_be_fields(self):
        class Key:
            def __str__(self):
                raise AssertionError("was asked for its text")

        with self.assertRaises(RefusedEventError) as caught:
            create_publisher(URL, client=FakeClient()).publish({**event(7), Key(): 1})
        self.assertEqual([finding.field for finding in caught.exception.findings], [""])


class ManyEvents(unittest.TestCase):
    def test_are_not_one_event_nor_a_text(self):
        for wrong in (event(7), json.dumps([event(7)]), b"[]", None, 7):
            client = FakeClient()
            with self.subTest(wrong), self.assertRaises(TypeError):
                create_publisher(URL, client=client).publish_all(wrong)
            self.assertEqual(client.requests, [])

    def test_are_sent_ten_a_request_and_told_in_their_order(self):
        for count in (0, 1, 10, 11, 95):
            with self.subTest(count):
                client = FakeClient()
                outcome = create_publisher(URL, client=client).publish_all(iter(events(count)))
                self.assertEqual([sent.index for sent in outcome.sent], list(range(count)))
                self.assertEqual((outcome.refused, outcome.failed), ([], []))
                self.assertEqual(len(client.requests), -(-count // 10))

    def test_are_sent_by_few_requests_at_once(self):
        together = threading.Barrier(3)
        client = FakeClient(receive=lambda: together.wait(10))
        create_publisher(URL, client=client, concurrency=3).publish_all(events(90))
        self.assertEqual(client.most_at_once, 3)

    def test_are_each_judged_for_themselves(self):
        def judge(demand, time):
            if demand == 3:
                return "InvalidMessageContents", True
            if demand == 4 or (demand == 5 and time == 0):
                return "ThrottlingException", False
            return None

        given = events(12)
        given[1]["id_demanda"] = 0
        client = FakeClient(judge)
        outcome = create_publisher(URL, client=client, attempts=2).publish_all(given)
        self.assertEqual([sent.index for sent in outcome.sent], [0, *range(4, 12)])
        self.assertEqual([(one.index, one.findings[0].field) for one in outcome.refused], [(1, "id_demanda")])
        told = [(one.index, one.id, one.code, one.retryable) for one in outcome.failed]
        self.assertEqual(
            told, [(2, "demand-3", "InvalidMessageContents", False), (3, "demand-4", "ThrottlingException", True)]
        )
        self.assertEqual(sorted(len(request) for request in client.requests), [1, 2, 10])

    def test_are_told_of_when_their_iterable_raises(self):
        def broken():
            yield from events(13)
            raise RuntimeError("no more")

        with self.assertRaises(InterruptedPublishError) as caught:
            create_publisher(URL, client=FakeClient()).publish_all(broken())
        self.assertEqual(len(caught.exception.outcome.sent), 13)
        self.assertEqual(str(caught.exception.__cause__), "no more")

    def test_are_told_of_when_stop_is_set(self):
        stop, closed = threading.Event(), threading.Event()

        def endless():
            try:
                for number in range(1, 1_000_000):
                    if number == 25:
                        stop.set()
                    yield event(number)
            finally:
                closed.set()

        with self.assertRaises(InterruptedPublishError) as caught:
            create_publisher(URL, client=FakeClient()).publish_all(endless(), stop=stop)
        outcome = caught.exception.outcome
        self.assertEqual(len(outcome.sent) + len(outcome.failed), 25)
        self.assertEqual({failed.code for failed in outcome.failed}, {"Aborted"})
        self.assertTrue(closed.is_set())


class APublisher(unittest.TestCase):
    def test_is_not_made_of_options_that_cannot_be_used(self):
        for options in (
            {"queue_url": None},
            {"queue_url": "events"},
            {"queue_url": URL, "attempts": 0},
            {"queue_url": URL, "concurrency": 1.5},
        ):
            with self.subTest(options), self.assertRaises(ValueError):
                create_publisher(client=FakeClient(), **options)

    def test_is_not_made_of_what_is_no_client(self):
        with self.assertRaises(TypeError):
            create_publisher(URL, client=object())


if __name__ == "__main__":
    unittest.main()
