"""
Starts MiniStack (https://pypi.org/project/ministack/) with stubs for the resource types that it lacks.

EMULATOR_RECORDED is a JSON list of the unsupported resources. Each entry has a type, and may have a property. A stub only assigns an id.
When standard input closes, the parent process has ended, so this program kills MiniStack, all functions and itself.
"""

import json
import os
import signal
import sys
import threading

from ministack.core.responses import new_uuid
from ministack.services.cloudformation import provisioners


def add_stub(resource_type, only_with):
    handlers = provisioners._RESOURCE_HANDLERS
    original = handlers.get(resource_type)

    def applies(properties):
        return not only_with or only_with in properties

    def create(logical_id, properties, stack_name):
        if not applies(properties):
            return original["create"](logical_id, properties, stack_name)
        identifier = f"{stack_name}-{logical_id}-{new_uuid()[:8]}"
        return identifier, {"Arn": identifier}

    def update(physical_id, old, new, stack_name, logical_id=None):
        if not applies(new):
            return original["update"](physical_id, old, new, stack_name, logical_id)
        return physical_id, {"Arn": physical_id}

    def delete(physical_id, properties):
        if not applies(properties):
            original["delete"](physical_id, properties)

    handlers[resource_type] = {
        "create": create,
        "update": update,
        "update_with_logical_id": True,
        "delete": delete,
    }


def exit_with_standard_input():
    while os.read(0, 1024):
        pass
    os.killpg(0, signal.SIGKILL)


for entry in json.loads(os.environ["EMULATOR_RECORDED"]):
    add_stub(entry["type"], entry.get("property"))
threading.Thread(target=exit_with_standard_input, daemon=True).start()

from ministack.app import main  # noqa: E402 (the stubs must exist first)

sys.argv = sys.argv[:1]
main()
