import * as z from 'zod';

const oneOrMore = z
  .union([z.string(), z.array(z.string())])
  .transform(value => (Array.isArray(value) ? value : [value]));

/** A statement of a policy document. Operators that nothing here knows are refused rather than passed over. */
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

/** The document of a policy. */
export const policyDocumentSchema = z.object({ Statement: z.array(statementSchema) });

/** What a role may do, where and when. */
export type Statement = z.output<typeof statementSchema>;

/** One thing that somebody wants to do to one resource. */
export interface AccessRequest {
  /** `dynamodb:GetItem` */
  readonly action: string;
  /** ARN */
  readonly resource: string;
  /** Condition keys, such as `dynamodb:LeadingKeys`, with their values. */
  readonly context?: Readonly<Record<string, readonly string[]>>;
}

/** Whether any of the statements allows the request. Nothing else does: IAM denies by default. */
export function isAllowed(statements: readonly Statement[], { action, resource, context }: AccessRequest): boolean {
  return statements.some(
    statement =>
      statement.Action.some(pattern => covers(pattern, action)) &&
      statement.Resource.some(pattern => covers(pattern, resource)) &&
      holds(statement, context),
  );
}

/** Whether a statement's pattern (`*` for anything) covers a name. */
function covers(pattern: string, name: string): boolean {
  return pattern.includes('*') ? expressionOf(pattern).test(name) : pattern === name;
}

function holds({ Condition: condition }: Statement, context: AccessRequest['context'] = {}): boolean {
  const single = Object.entries(condition?.StringEquals ?? {});
  const each = Object.entries(condition?.['ForAllValues:StringEquals'] ?? {});
  return (
    single.every(([key, allowed]) => (context[key]?.length ?? 0) > 0 && includesAll(allowed, context[key] ?? [])) &&
    each.every(([key, allowed]) => includesAll(allowed, context[key] ?? [])) // holds for a key that is absent, as in IAM
  );
}

function expressionOf(pattern: string): RegExp {
  const known = expressions.get(pattern) ?? new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`);
  expressions.set(pattern, known);
  return known;
}

/** Of patterns with `*`; each request would compile them anew. There are no more than the template has. */
const expressions = new Map<string, RegExp>();

function includesAll(allowed: readonly string[], values: readonly string[]): boolean {
  return values.every(value => allowed.includes(value));
}
