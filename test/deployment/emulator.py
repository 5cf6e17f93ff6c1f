"""
Starts MiniStack (https://pypi.org/project/ministack/) with the resource types that it lacks.

EMULATOR_RECORDED names, as JSON, what CloudFormation here only writes down: a type, or a type and a property that MiniStack
cannot read. Such a resource gets an id and nothing else. When standard input ends, so does MiniStack with all functions:
whoever started it is gone.
"""

import json
import os
import signal
import sys
import threading

from ministack.core.responses import new_uuid
from ministack.services.cloudformation import provisioners


def record(resource_type, only_with):
    handlers = provisioners._RESOURCE_HANDLERS
    known = handlers.get(resource_type)

    def applies(properties):
        return not only_with or only_with in properties

    def create(logical_id, properties, stack_name):
        if not applies(properties):
            return known["create"](logical_id, properties, stack_name)
        identifier = f"{stack_name}-{logical_id}-{new_uuid()[:8]}"
        return identifier, {"Arn": identifier}

    def update(physical_id, old, new, stack_name, logical_id=None):
        if not applies(new):
            return known["update"](physical_id, old, new, stack_name, logical_id)
        return physical_id, {"Arn": physical_id}

    def delete(physical_id, properties):
        if not applies(properties):
            known["delete"](physical_id, properties)

    handlers[resource_type] = {
        "create": create,
        "update": update,
        "update_with_logical_id": True,
        "delete": delete,
    }


def end_with_standard_input():
    while os.read(0, 1024):
        pass
    os.killpg(0, signal.SIGKILL)


for entry in json.loads(os.environ["EMULATOR_RECORDED"]):
    record(entry["type"], entry.get("property"))
threading.Thread(target=end_with_standard_input, daemon=True).start()

from ministack.app import main  # noqa: E402 (after the types are there)

sys.argv = sys.argv[:1]
main()
