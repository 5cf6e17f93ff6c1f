import { queueArn, tableArn } from '../assembly/identities.ts';
import type { AccessRequest } from './statement.ts';

/** What a DynamoDB request needs to be allowed. `target` is its `X-Amz-Target`. */
export function dynamoDbAccess(target: string, body: Json): AccessRequest[] {
  const action = `dynamodb:${target.split('.').at(-1)}`;
  if (isObject(body.RequestItems)) {
    return Object.keys(body.RequestItems).map(table => ({ action, resource: tableArn(table) }));
  }
  const table = tableArn(String(body.TableName));
  const resource = typeof body.IndexName === 'string' ? `${table}/index/${body.IndexName}` : table;
  if (!body.KeyConditionExpression) return [{ action, resource }];
  return [{ action, resource, context: { 'dynamodb:LeadingKeys': leadingKeys(body) } }];
}

/** What an SQS request needs to be allowed: a batch needs what its entries need. */
export function sqsAccess(target: string, body: Json): AccessRequest[] {
  const action = `sqs:${target
    .split('.')
    .at(-1)
    ?.replace(/Batch$/, '')}`;
  return [
    {
      action,
      resource: queueArn(
        String(body.QueueUrl ?? body.QueueName)
          .split('/')
          .at(-1) ?? '',
      ),
    },
  ];
}

/** What an SNS request needs to be allowed; the SDK sends it as a form. */
export function snsAccess(body: Json): AccessRequest[] {
  return [{ action: `sns:${String(body.Action)}`, resource: String(body.TopicArn) }];
}

/** What a KMS request for a key needs to be allowed. `key` is the ARN of the key it is about. */
export function kmsAccess(operation: string, body: Json, key: string): AccessRequest[] {
  const context = isObject(body.EncryptionContext) ? Object.entries(body.EncryptionContext) : [];
  return [
    {
      action: `kms:${operation}`,
      resource: key,
      context: Object.fromEntries(context.map(([name, value]) => [`kms:EncryptionContext:${name}`, [String(value)]])),
    },
  ];
}

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}

/**
 * The partition key values that a query asks for, as IAM's condition key `dynamodb:LeadingKeys` has them. Conditions on
 * it are only used with queries here.
 */
function leadingKeys({ KeyConditionExpression: expression, ExpressionAttributeValues: values }: Json): string[] {
  const placeholder = /^\s*[#\w]+\s*=\s*(:\w+)/.exec(String(expression))?.[1];
  return placeholder && isObject(values) ? [plainValue(values[placeholder])] : [];
}

/** `{"S":"signing"}` → `signing` */
function plainValue(value: unknown): string {
  return isObject(value) ? String(Object.values(value)[0]) : String(value);
}
