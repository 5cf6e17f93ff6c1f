import * as z from 'zod/mini';

const missing = 'must be set';

/** An environment variable that must be set and must not be empty. */
export const text = z.string(missing).check(z.minLength(1, missing));

/** An environment variable that may be empty. Its value is then `undefined`. */
export const optionalText = z.pipe(
  z.string(missing),
  z.transform(value => (value === '' ? undefined : value)),
);

/** An environment variable that contains a whole number of at least 0. */
export const wholeNumber = z.pipe(
  z.string(missing).check(z.regex(/^\d{1,15}$/, 'must be a whole number')),
  z.transform(Number),
);

/** An environment variable that contains a comma-separated list. Surrounding spaces and empty items are dropped. */
export const list = z.pipe(
  z.string(missing),
  z.transform(value =>
    value
      .split(',')
      .map(item => item.trim())
      .filter(item => item !== ''),
  ),
);

/**
 * Reads the environment variables of a function. Call it once, at start.
 *
 * @throws {Error} if variables are missing or malformed. The message contains their names, but not their values.
 */
export function readEnvironment<Schema extends z.ZodMiniObject>(
  schema: Schema,
  variables: Record<string, string | undefined> = process.env,
): Environment<Schema> {
  const result = schema.safeParse(variables);
  if (result.success) {
    const values = Object.entries(result.data).map(([name, value]) => [camelCase(name), value]);
    return Object.fromEntries(values);
  }
  const problems = result.error.issues.map(issue => `${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`The function's environment variables are not valid: ${problems.join('; ')}`);
}

/** The variables of a function by camel-case name. */
export type Environment<Schema extends z.ZodMiniObject> = {
  readonly [Name in keyof z.output<Schema> & string as CamelCase<Name>]: z.output<Schema>[Name];
};

/** A variable name in camel case. For example, `RETRY_SCHEDULE` becomes `retrySchedule`. */
export type CamelCase<Name extends string> = Name extends `${infer Word}_${infer Others}`
  ? `${Lowercase<Word>}${Capitalize<CamelCase<Others>>}`
  : Lowercase<Name>;

export function camelCase(variable: string): string {
  return variable.toLowerCase().replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
