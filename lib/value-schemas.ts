import * as z from 'zod';

/**
 * Returns the schema for a duration with a unit (`500ms`, `5s`, `30m`, `2h`, `14d`) from `min` to `max`. The output is in
 * milliseconds.
 */
export function duration(min: string, max: string) {
  return text(/^\d{1,9}(ms|s|m|h|d)$/, 'must be a whole number with a unit: 500ms, 5s, 30m, 2h or 14d')
    .transform(millisecondsOf)
    .refine(value => value >= millisecondsOf(min) && value <= millisecondsOf(max), `must be ${min} to ${max}`);
}

/** Returns the schema for a whole number from `min` to `max`. It accepts strings, because a command line passes strings. */
export function count(min: number, max: number) {
  return z
    .union([z.int(), z.string().regex(/^\d+$/).transform(Number)], `must be a whole number from ${min} to ${max}`)
    .pipe(z.int().min(min, `must be ${min} to ${max}`).max(max, `must be ${min} to ${max}`));
}

/** The schema of a flag. It accepts strings, because a command line passes strings. */
export const flag = z.union(
  [z.boolean(), z.enum(['true', 'false']).transform(word => word === 'true')],
  'must be true or false',
);

export function choice<const Word extends string>(...words: readonly Word[]) {
  const list = new Intl.ListFormat('en-GB', { type: 'disjunction' });
  return z.enum(words, `must be ${list.format(words)}`);
}

/** Returns the schema for a list of up to `max` distinct strings. The input is an array or a comma-separated string. */
export function list(item: z.ZodType<string, string>, max: number) {
  return z
    .union([z.array(z.string()), z.string().transform(split)], 'must be a string array or a comma-separated string')
    .pipe(z.array(item).max(max, `must have at most ${max} entries`))
    .refine(items => new Set(items).size === items.length, 'must not repeat an entry');
}

/** Returns the schema of waits in a comma-separated string. The output is in milliseconds. */
export function waitList(wait: z.ZodType<number, string>, max: number) {
  return z
    .string('must be a comma-separated string, such as 5s,5m,30m')
    .transform(split)
    .pipe(z.array(wait).min(1, 'must have at least 1 wait').max(max, `must have at most ${max} waits`));
}

/** Returns the schema for an https URL to which callers append paths. */
export function httpsUrl() {
  return z
    .url({ protocol: /^https$/, error: 'must be an https URL' })
    .refine(value => !value.endsWith('/'), 'must not end in a slash');
}

/** The schema of an https URL to which callers append fragments. */
export const pageUrl = z
  .url({ protocol: /^https$/, error: 'must be an https URL' })
  .refine(value => !value.includes('#'), 'must not have a fragment');

/** The schema of an API's custom domain and its certificate in AWS Certificate Manager. */
export const domain = z.strictObject(
  {
    name: text(/^(?!-)[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'name must be a host name in lower case'),
    certificateArn: text(
      /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
      'certificateArn must be the ARN of an ACM certificate',
    ),
  },
  'must have only name and certificateArn',
);

const tagMessage =
  'must map names (at most 128 characters) to values (at most 256) of letters, digits, spaces and _.:/=+-@, except the names service, stage and aws:*';

/** The schema of tags. It allows the keys and values that AWS accepts. */
export const tags = z.record(
  text(/^(?!aws:|(service|stage)$)[\p{L}\p{N} _.:/=+@-]{1,128}$/u, tagMessage),
  text(/^[\p{L}\p{N} _.:/=+@-]{1,256}$/u, tagMessage),
  tagMessage,
);

export const emailAddress = z.email('must be e-mail addresses');

/** Returns the schema for an AWS account number. `message` describes the valid values. */
export function accountNumber(message = 'must be the 12 digits of an AWS account, in quotes') {
  return text(/^\d{12}$/, message);
}

export const regionName = text(/^[a-z]{2}(-[a-z]+)+-\d+$/, 'must be an AWS Region, such as sa-east-1');

/** The schema of the exact ARN of a role, a user, an SNS topic or an EventBridge rule. */
export const publisherArn = text(
  /^arn:aws[a-z-]*:(iam::\d{12}:(role|user)\/[\w+=.@/-]+|sns:[a-z0-9-]+:\d{12}:[\w-]+(\.fifo)?|events:[a-z0-9-]+:\d{12}:rule\/([\w.-]+\/)?[\w.-]+)$/,
  'must be ARNs of roles, users, SNS topics or EventBridge rules',
);

const retentionDays = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 3653];

/** The schema of a log retention that CloudWatch Logs supports, in days. */
export const logRetention = count(1, 3_653).refine(
  days => retentionDays.includes(days),
  `must be one of ${retentionDays.join(', ')}`,
);

/** Returns the schema of strings that match a pattern. `message` describes the valid values. */
function text(pattern: RegExp, message: string) {
  return z.string(message).regex(pattern, message);
}

function split(list: string): string[] {
  return list.split(',').map(part => part.trim());
}

function millisecondsOf(value: string): number {
  return Number.parseInt(value, 10) * (unitMilliseconds[value.replace(/^\d+/, '')] ?? 0);
}

const unitMilliseconds: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
