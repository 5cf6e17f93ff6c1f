import * as z from 'zod';

/**
 * Returns the schema of a duration with a unit (`500ms`, `5s`, `30m`, `2h`, `14d`), from `least` up to `most`. It parses to
 * milliseconds.
 */
export function duration(least: string, most: string) {
  return text(/^\d{1,9}(ms|s|m|h|d)$/, 'must be a whole number with a unit: 500ms, 5s, 30m, 2h or 14d')
    .transform(millisecondsOf)
    .refine(value => value >= millisecondsOf(least) && value <= millisecondsOf(most), `must be ${least} to ${most}`);
}

/** Returns the schema of a whole number, from `least` up to `most`. Text is accepted, because a command line passes text. */
export function count(least: number, most: number) {
  return z
    .union([z.int(), z.string().regex(/^\d+$/).transform(Number)], `must be a whole number from ${least} to ${most}`)
    .pipe(z.int().min(least, `must be ${least} to ${most}`).max(most, `must be ${least} to ${most}`));
}

/** The schema of a switch. Text is accepted, because a command line passes text. */
export const flag = z.union(
  [z.boolean(), z.enum(['true', 'false']).transform(word => word === 'true')],
  'must be true or false',
);

export function choice<const Word extends string>(...words: readonly Word[]) {
  const list = new Intl.ListFormat('en-GB', { type: 'disjunction' });
  return z.enum(words, `must be ${list.format(words)}`);
}

/** Returns the schema of up to `most` distinct texts, which are an array or one text with commas between them. */
export function list(item: z.ZodType<string, string>, most: number) {
  return z
    .union([z.array(z.string()), z.string().transform(split)], 'must be an array of strings, or one string with commas')
    .pipe(z.array(item).max(most, `must have at most ${most} entries`))
    .refine(items => new Set(items).size === items.length, 'must not repeat an entry');
}

/** Returns the schema of waits in one text, with commas between them. It parses to milliseconds. */
export function waits(wait: z.ZodType<number, string>, most: number) {
  return z
    .string('must be one string with commas, such as 5s,5m,30m')
    .transform(split)
    .pipe(z.array(wait).min(1, 'must name at least one wait').max(most, `must name at most ${most} waits`));
}

/** Returns the schema of the https URL of a host, to which callers append paths. */
export function httpsUrl() {
  return z
    .url({ protocol: /^https$/, error: 'must be an https URL' })
    .refine(value => !value.endsWith('/'), 'must not end in a slash');
}

/** The schema of the https URL of a page, to which callers append fragments. */
export const pageUrl = z
  .url({ protocol: /^https$/, error: 'must be an https URL' })
  .refine(value => !value.includes('#'), 'must not have a fragment');

/** The schema of a custom domain of an API, and its certificate in AWS Certificate Manager. */
export const domain = z.strictObject(
  {
    name: text(/^(?!-)[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'name must be a host name in lower case'),
    certificateArn: text(
      /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
      'certificateArn must be the ARN of an ACM certificate',
    ),
  },
  'must have name and certificateArn, and nothing else',
);

const tagForm =
  'must map names, other than service and stage, to values: letters, digits, spaces or _.:/=+-@, at most 128 and 256';

/** The schema of tags, with the keys and values that AWS accepts. */
export const tags = z.record(
  text(/^(?!aws:|(service|stage)$)[\p{L}\p{N} _.:/=+@-]{1,128}$/u, tagForm),
  text(/^[\p{L}\p{N} _.:/=+@-]{1,256}$/u, tagForm),
  tagForm,
);

export const emailAddress = z.email('must be e-mail addresses');

/** Returns the schema of an AWS account number. `message` describes the valid values. */
export function accountNumber(message = 'must be the 12 digits of an AWS account, in quotes') {
  return text(/^\d{12}$/, message);
}

export const regionName = text(/^[a-z]{2}(-[a-z]+)+-\d+$/, 'must be an AWS Region, such as sa-east-1');

/** The schema of the exact ARN of a role, a user, an SNS topic or an EventBridge rule in a list. */
export const publisherArn = text(
  /^arn:aws[a-z-]*:(iam::\d{12}:(role|user)\/[\w+=.@/-]+|sns:[a-z0-9-]+:\d{12}:[\w-]+(\.fifo)?|events:[a-z0-9-]+:\d{12}:rule\/([\w.-]+\/)?[\w.-]+)$/,
  'must be ARNs of roles, users, SNS topics or EventBridge rules',
);

const retentionDays = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 3653];

/** The schema of a number of days for which CloudWatch Logs can retain logs. */
export const logRetention = count(1, 3_653).refine(
  days => retentionDays.includes(days),
  `must be one of ${retentionDays.join(', ')}`,
);

/** Returns the schema of text of one form. `message` describes the valid values. */
function text(form: RegExp, message: string) {
  return z.string(message).regex(form, message);
}

function split(list: string): string[] {
  return list.split(',').map(part => part.trim());
}

function millisecondsOf(value: string): number {
  return Number.parseInt(value, 10) * (unitMilliseconds[value.replace(/^\d+/, '')] ?? 0);
}

const unitMilliseconds: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
