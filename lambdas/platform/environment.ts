import * as z from 'zod';

/** An environment variable that must be there and not be empty. */
export const text = z.string().min(1);

/** An environment variable that holds a whole number of at least 0 (seconds, milliseconds, counts). */
export const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number);

/** An environment variable that holds a comma-separated list; blanks around items and empty items are dropped. */
export const list = z.string().transform(value =>
  value
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== ''),
);

/**
 * Reads a function's environment once, at start.
 *
 * @throws {Error} naming every variable that is missing or malformed; values are not shown.
 */
export const readEnvironment = <Schema extends z.ZodObject>(
  schema: Schema,
  variables: Record<string, string | undefined> = process.env,
): z.output<Schema> => {
  const result = schema.safeParse(variables, { jitless: true }); // parsed once: a compiled parser would cost more than it saves
  if (result.success) return result.data;
  const faults = result.error.issues.map(issue => `${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`The function's environment is not usable: ${faults.join('; ')}`);
};
