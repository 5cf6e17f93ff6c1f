"""The messages that the service and both publishers share, and what becomes of them."""

import json
import unittest
from pathlib import Path

import emissor_publisher
from emissor_publisher import findings_of, webhook_id_of
from emissor_publisher.events import EVENT_FIELDS, EVENT_REASONS
from emissor_publisher.message import message_of

VECTORS = json.loads((Path(__file__).parents[2] / "test-vectors.json").read_text())
for vector in VECTORS["refused"]:
    for finding in vector["findings"]:
        if finding["reason"] == "is unknown":
            finding["reason"] = EVENT_REASONS["unknown"]


def told(message):
    return [{"field": finding.field, "reason": finding.reason} for finding in findings_of(message)]


class Vectors(unittest.TestCase):
    def test_accepted(self):
        for vector in VECTORS["accepted"]:
            with self.subTest(vector["case"]):
                self.assertEqual(told(vector["message"]), [])
                message = message_of(vector["message"], 0, lambda: "made")
                self.assertTrue(message.body.isascii())
                if "webhookId" in vector:
                    self.assertEqual(message.webhook_id, vector["webhookId"])

    def test_refused(self):
        for vector in [*VECTORS["refused"], *VECTORS["unknownFields"]]:
            with self.subTest(vector["case"]):
                self.assertEqual(told(vector["message"]), vector["findings"])

    def test_every_event_has_a_type_that_is_offered(self):
        for name in EVENT_FIELDS:
            type_name = "".join(word.capitalize() for word in name.replace("_", ".").split("."))
            self.assertIn(type_name, emissor_publisher.__all__)

    def test_surrogate_pair_is_one_character(self):
        pair = "\ud83d\udca7"
        self.assertEqual(webhook_id_of("acme", "demanda.criada", pair), webhook_id_of("acme", "demanda.criada", "💧"))
        event = {"id_conta": "acme", "event": "demanda.criada", "id_demanda": 1, "id": pair * 128}
        self.assertEqual(told(event), [])


if __name__ == "__main__":
    unittest.main()
