import * as z from 'zod';
import { type LiveResource, ofType, readProperties } from '../assembly/resources.ts';
import { StartError } from '../errors.ts';
import { eventSourceOf } from '../event-sources/queue-source.ts';

/** A statement in a role's policy. */
export type Statement = z.output<typeof statementSchema>;

/** A caller's request for an action on a resource. */
export interface AccessRequest {
  /** The action, such as `dynamodb:GetItem`. */
  readonly action: string;
  /** The ARN of the resource. */
  readonly resource: string;
  /** The values of condition keys, such as `dynamodb:LeadingKeys`. */
  readonly context?: Readonly<Record<string, readonly string[]>>;
}

/**
 * Returns the statements of each function's role, by function name.
 *
 * @throws {StartError} if the local cloud does not support a policy
 */
export function functionPolicies(resources: readonly LiveResource[]): ReadonlyMap<string, readonly Statement[]> {
  const policies = ofType(resources, 'AWS::IAM::Policy').map(resource => readProperties(policySchema, resource));
  return new Map(
    ofType(resources, 'AWS::Lambda::Function').map(resource => {
      const role = readProperties(roleSchema, resource).Role.split('/').at(-1) ?? '';
      const attached = policies.filter(({ Roles }) => Roles.includes(role));
      return [resource.name, attached.flatMap(policy => policy.PolicyDocument.Statement)];
    }),
  );
}

/**
 * Checks that each function with an event source has the permissions to consume the queue, as Lambda does. The event
 * source itself does not use the function's role.
 *
 * @throws {StartError}
 */
export function requireConsumers(
  resources: readonly LiveResource[],
  policies: ReadonlyMap<string, readonly Statement[]>,
): void {
  for (const source of ofType(resources, 'AWS::Lambda::EventSourceMapping')) {
    const { functionName, queueArn: resource } = eventSourceOf(source);
    const missing = consumerActions.find(action => !isAllowed(policies.get(functionName) ?? [], { action, resource }));
    if (missing)
      throw new StartError(`${source.name}: the role of ${functionName} must allow ${missing} on ${resource}.`);
  }
}

const consumerActions = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'];

/** Returns whether any of the statements allows the request. IAM denies all other requests. */
export function isAllowed(statements: readonly Statement[], { action, resource, context }: AccessRequest): boolean {
  return statements.some(
    statement =>
      statement.Action.some(pattern => covers(pattern, action)) &&
      statement.Resource.some(pattern => covers(pattern, resource)) &&
      meetsCondition(statement, context),
  );
}

const oneOrMore = z
  .union([z.string(), z.array(z.string())])
  .transform(value => (Array.isArray(value) ? value : [value]));

/** Strict objects reject operators that the local cloud does not support. */
const statementSchema = z.strictObject({
  Sid: z.string().optional(),
  Effect: z.literal('Allow'),
  Action: oneOrMore,
  Resource: oneOrMore,
  Condition: z
    .strictObject({
      StringEquals: z.record(z.string(), oneOrMore).optional(),
      'ForAllValues:StringEquals': z.record(z.string(), oneOrMore).optional(),
    })
    .optional(),
});

export const policyDocumentSchema = z.object({ Statement: z.array(statementSchema) });

const policySchema = z.object({ PolicyDocument: policyDocumentSchema, Roles: z.array(z.string()) });
const roleSchema = z.object({ Role: z.string() });

/** Returns whether a pattern matches a name. `*` matches any text. */
function covers(pattern: string, name: string): boolean {
  return pattern.includes('*') ? expressionOf(pattern).test(name) : pattern === name;
}

function expressionOf(pattern: string): RegExp {
  const expression = expressions.get(pattern) ?? new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`);
  expressions.set(pattern, expression);
  return expression;
}

/** The compiled patterns in the template. */
const expressions = new Map<string, RegExp>();

function meetsCondition({ Condition: condition }: Statement, context: AccessRequest['context'] = {}): boolean {
  const equals = Object.entries(condition?.StringEquals ?? {});
  const forAll = Object.entries(condition?.['ForAllValues:StringEquals'] ?? {});
  return (
    equals.every(([key, allowed]) => (context[key]?.length ?? 0) > 0 && includesAll(allowed, context[key] ?? [])) &&
    forAll.every(([key, allowed]) => includesAll(allowed, context[key] ?? [])) // a missing key meets the condition, as in IAM
  );
}

function includesAll(allowed: readonly string[], values: readonly string[]): boolean {
  return values.every(value => allowed.includes(value));
}
