"""A user of the Python publisher, for the tests: reads a task as JSON and writes its outcome."""

import json
import sys

from emissor_publisher import create_publisher, findings_of
from emissor_publisher.message import message_of


def publish(task):
    outcome = create_publisher(task["queueUrl"], attempts=task["attempts"]).publish_all(iter(task["events"]))
    names = {"message_id": "messageId", "webhook_id": "webhookId"}
    told = {
        kind: [{name: value for name, value in vars(event).items() if name != "cause"} for event in getattr(outcome, kind)]
        for kind in ("sent", "failed")
    }
    told["refused"] = [
        {"index": event.index, "findings": [vars(finding) for finding in event.findings]} for event in outcome.refused
    ]
    return {
        kind: [{names.get(name, name): value for name, value in event.items()} for event in events]
        for kind, events in told.items()
    }


def judge(task):
    """Tells of each message what is wrong with it, or what would be sent."""
    return [judged(message) for message in task["messages"]]


def judged(message):
    findings = [vars(finding) for finding in findings_of(message)]
    if findings:
        return {"findings": findings}
    made = message_of(message, 0, lambda: "made")
    return {"findings": [], "body": made.body, "webhookId": made.webhook_id}


given = json.load(sys.stdin)
json.dump({"publish": publish, "judge": judge}[given["task"]](given), sys.stdout)
