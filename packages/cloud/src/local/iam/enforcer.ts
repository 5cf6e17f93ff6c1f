import { ServiceError } from '../../service-error.ts';
import { queueArn, tableArn } from '../assembly/identities.ts';
import type { Interceptor, ServiceRequest } from '../emulator.ts';
import { keyIn } from '../kms.ts';
import { type AccessRequest, isAllowed, type Statement } from './policies.ts';

/** Enforces the template's policies for requests from functions to the emulators. */
export interface IamEnforcer {
  /** Rejects requests that the policies of the calling function do not allow. Callers other than functions are not restricted. */
  readonly interceptor: Interceptor;
  /** Sets the policies, as statements by access key id. Until then, callers are not restricted. */
  enforce(policies: ReadonlyMap<string, readonly Statement[]>): void;
}

/** Creates the enforcer. `onDenial` receives the error message of each rejected request, which names the missing permission. */
export function makeIamEnforcer(onDenial: (message: string) => void): IamEnforcer {
  let policiesByCaller: ReadonlyMap<string, readonly Statement[]> = new Map();
  return {
    enforce: policies => {
      policiesByCaller = policies;
    },
    interceptor: function enforceIam(request) {
      const statements = policiesByCaller.get(request.caller);
      const denial = statements && accessRequests(request).find(access => !isAllowed(statements, access));
      if (!denial) return undefined;
      const context = Object.entries(denial.context ?? {}).map(([key, values]) => ` ${key}=${values.join(',')}`);
      const message = `${request.caller} is not authorized to perform: ${denial.action} on resource: ${denial.resource}${context.join('')}`;
      onDenial(message);
      return new ServiceError(request.service === 'sns' ? 'AuthorizationError' : 'AccessDeniedException', message);
    },
  };
}

/** Returns the permissions that a request requires. */
function accessRequests({ service, operation, input }: ServiceRequest): readonly AccessRequest[] {
  switch (service) {
    case 'dynamodb':
      return dynamoDbAccess(operation, input);
    case 'sqs':
      // a batch needs the permission for its entries
      return [{ action: `sqs:${operation.replace(/Batch$/, '')}`, resource: queueArn(queueName(input)) }];
    case 'sns':
      return [{ action: `sns:${operation}`, resource: String(input.TopicArn) }];
    case 'kms':
      return [{ action: `kms:${operation}`, resource: keyIn(input), context: encryptionContext(input) }];
    case 'logs':
      return [{ action: `logs:${operation}`, resource: '*' }];
  }
}

function dynamoDbAccess(operation: string, input: Input): AccessRequest[] {
  if (operation === 'BatchExecuteStatement') {
    const statements = Array.isArray(input.Statements) ? input.Statements : [];
    const tables = statements.flatMap(each => /^INSERT INTO "([^"]+)"/.exec(Object(each).Statement)?.[1] ?? []);
    return tables.map(table => ({ action: 'dynamodb:PartiQLInsert', resource: tableArn(table) }));
  }
  const action = `dynamodb:${operation}`;
  if (isObject(input.RequestItems)) {
    return Object.keys(input.RequestItems).map(table => ({ action, resource: tableArn(table) }));
  }
  const table = tableArn(String(input.TableName));
  const resource = typeof input.IndexName === 'string' ? `${table}/index/${input.IndexName}` : table;
  if (!input.KeyConditionExpression) return [{ action, resource }];
  return [{ action, resource, context: { 'dynamodb:LeadingKeys': leadingKeys(input) } }];
}

type Input = ServiceRequest['input'];

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/**
 * Returns the partition key values of a query, for IAM's condition key `dynamodb:LeadingKeys`. The templates use this key
 * only for queries.
 */
function leadingKeys({ KeyConditionExpression: expression, ExpressionAttributeValues: values }: Input): string[] {
  const placeholder = /^\s*[#\w]+\s*=\s*(:\w+)/.exec(String(expression))?.[1];
  return placeholder && isObject(values) ? [plainValue(values[placeholder])] : [];
}

/** Returns the content of a value, such as `signing` for `{"S":"signing"}`. */
function plainValue(value: unknown): string {
  return isObject(value) ? String(Object.values(value)[0]) : String(value);
}

/** Returns the last part of the queue's URL. */
function queueName({ QueueUrl }: Input): string {
  return String(QueueUrl).replace(/.*\//, '');
}

/** Returns IAM's condition keys `kms:EncryptionContext:…`. */
function encryptionContext({ EncryptionContext: context }: Input): Record<string, string[]> {
  const pairs = isObject(context) ? Object.entries(context) : [];
  return Object.fromEntries(pairs.map(([name, value]) => [`kms:EncryptionContext:${name}`, [String(value)]]));
}
