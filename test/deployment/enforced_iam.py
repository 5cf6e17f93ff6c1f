"""
Lets MiniStack judge requests by IAM policies, and closes the gaps between its judgement and AWS's that this product meets.
"""

import json
import re

from ministack import app
from ministack.core import iam_actions, iam_evaluator
from ministack.services import dynamodb


def enforce():
    extract_action = iam_actions.extract_iam_action
    tag_context = iam_actions.request_tag_context
    pin_origin = app.pin_request_origin

    # A batch needs the permission for one: "sqs:SendMessage", "sqs:DeleteMessage". There are no actions of the batches' names.
    # https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsqs.html
    def extract_iam_action(*request):
        action = extract_action(*request)
        return action and re.sub(r"^(sqs:\w+)Batch$", r"\1", action)

    def request_context(service, action, body, parameters):
        context = tag_context(service, action, body, parameters)
        if service == "kms":
            return {**context, **encryption_context(json.loads(body or b"{}"))}
        if service == "dynamodb":
            return {**context, **leading_keys(json.loads(body or b"{}"))}
        return context

    # The id of a multi-Region key is not read from a ciphertext otherwise, and every Decrypt without a KeyId is refused.
    iam_actions._KMS_KEY_ID_RE = re.compile(f"{iam_actions._KMS_KEY_ID_RE.pattern}|^mrk-[0-9a-f]{{32}}$")
    iam_actions.extract_iam_action = extract_iam_action
    iam_actions.request_tag_context = request_context
    # Where suites bring an engine of their own beside the run under test, they sign as "local", which every engine takes.
    is_root = iam_evaluator.is_root_access_key
    iam_evaluator.is_root_access_key = lambda key: key == "local" or is_root(key)
    # AWS is reached by TLS, the emulator by plain HTTP on loopback: policies that refuse it would refuse everything.
    app.pin_request_origin = lambda address, _secure: pin_origin(address, True)
    app.AUTH = True


def encryption_context(request):
    """https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html#conditions-kms-encryption-context"""
    pairs = request.get("EncryptionContext") or {}
    return {f"kms:EncryptionContext:{key}": value for key, value in pairs.items()}


def leading_keys(request):
    """
    Returns the partition keys that a request names. One that cannot be told is a name that no policy has.
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
    """
    name = request.get("TableName")
    keys = [
        key_of(table, entry)
        for table, entries in named_entries(request, name).items()
        for entry in entries
    ]
    if "KeyConditionExpression" in request:
        keys.append(queried_key(request))
    return {"dynamodb:LeadingKeys": keys} if keys else {}


def named_entries(request, name):
    if "RequestItems" not in request:
        return {name: [request[part] for part in ("Key", "Item") if part in request]}
    entries = {}
    for table, asked in request["RequestItems"].items():
        if isinstance(asked, dict):
            entries[table] = asked.get("Keys", [])
        else:
            entries[table] = [change.get("Item") or change.get("Key") for write in asked for change in write.values()]
    return entries


def key_of(table, entry):
    return next(iter(entry.get(partition_key(table), {}).values()), UNKNOWN)


def queried_key(request):
    names = request.get("ExpressionAttributeNames", {})
    values = request.get("ExpressionAttributeValues", {})
    for name, value in re.findall(r"(#?\w+)\s*=\s*(:\w+)", request["KeyConditionExpression"]):
        if names.get(name, name) == partition_key(request["TableName"], request.get("IndexName")):
            return next(iter(values.get(value, {}).values()), UNKNOWN)
    return UNKNOWN


def partition_key(name, index=None):
    table = dynamodb._tables.get(name.split("/")[-1]) or {}
    indexes = {entry["IndexName"]: entry for entry in table.get("GlobalSecondaryIndexes") or []}
    schema = (indexes.get(index, {}) if index else table).get("KeySchema", [])
    return next((key["AttributeName"] for key in schema if key["KeyType"] == "HASH"), None)


UNKNOWN = "(unknown)"
