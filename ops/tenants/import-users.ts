import { createReadStream } from 'node:fs';
import * as z from 'zod';
import { isAccountId, isReservedAccount } from '../../lambdas/auth/principals/account.ts';
import { parseImportedHash } from '../../lambdas/auth/principals/imported-hash.ts';
import { roles, type User } from '../../lambdas/auth/principals/user.ts';
import type { AuditedTask } from '../audit/audit.ts';
import { maxListed } from '../audit/audit-log.ts';
import { emailRule, parseEmailAddress } from '../stage/email-address.ts';
import { CliError } from '../stage/operator.ts';
import { openUsers } from '../stage/stores.ts';
import type { Task } from '../stage/target.ts';
import type { ImportedUser, UserStore } from '../stores/user-store.ts';
import { type NumberedLine, readLines } from './import-lines.ts';
import { convertHash, importedKinds, isScrypt } from './imported-hashes.ts';

/** The number of lines for each outcome. */
export interface Imported {
  /** The number of lines that are not blank. */
  readonly lines: number;
  readonly created: number;
  /** The number of users that the account already has. They stay unchanged. */
  readonly existing: number;
  /** The number of e-mail addresses that belong to another account. */
  readonly conflicting: number;
  /** The number of invalid lines. */
  readonly invalid: number;
  /** The numbers of created users with a hash that is weaker than Emissor's, by kind of hash. */
  readonly weaker: Readonly<Record<string, number>>;
}

/**
 * Imports the users in a file. Each line is a JSON object with `email`, `account`, `role` and `password_hash`. The
 * import can be repeated, because existing users stay unchanged. Memory use does not grow with the file. After an
 * interruption, the lines in progress are completed.
 * @throws {CliError} if the file cannot be read, or if lines were not imported. Warnings show their line numbers.
 */
export async function importUsers(
  { target, progress, warn, ...audit }: AuditedTask,
  file: string,
  interruption: AbortSignal,
): Promise<Imported> {
  const users = openUsers(target);
  const recordUser = makeRecordUser(audit);
  const importUser = (user: ImportedUser) => users.importUser(user, recordUser);
  return importLines({ lines: linesOf(file), importUser, progress, warn, interruption });
}

/** Records created users for the audit trail. The last line contains the accounts and the count, and further lines contain the ids. */
function makeRecordUser({ recordResult, recordTarget }: Pick<AuditedTask, 'recordResult' | 'recordTarget'>) {
  const accounts = new Set<string>();
  let count = 0;
  return function recordUser({ userId, accountId }: User): void {
    count += 1;
    if (accounts.size < maxListed) accounts.add(accountId);
    recordResult({ count, accounts: [...accounts] });
    recordTarget('users', userId);
  };
}

/** Imports lines concurrently. @throws {CliError} if a line was not imported. */
export async function importLines({
  lines,
  importUser,
  progress,
  warn,
  interruption,
}: Pick<Task, 'progress' | 'warn'> & {
  readonly lines: AsyncIterable<NumberedLine>;
  readonly importUser: (user: ImportedUser) => ReturnType<UserStore['importUser']>;
  readonly interruption?: AbortSignal;
}): Promise<Imported> {
  const weaker: Record<string, number> = {};
  const counts = { lines: 0, created: 0, existing: 0, conflicting: 0, invalid: 0, weaker };
  const iterator = lines[Symbol.asyncIterator]();
  const failures: unknown[] = [];

  async function work(): Promise<void> {
    while (failures.length === 0) {
      const { done, value: line } = await iterator.next();
      if (done === true) return;
      interruption?.throwIfAborted();
      await importLine(line);
      counts.lines += 1;
      if (counts.lines % linesPerProgress === 0) {
        progress(`${counts.lines} lines read, ${counts.created} users created, ${counts.existing} unchanged`);
      }
    }
  }

  async function importLine({ number, text }: NumberedLine): Promise<void> {
    const { user, problem } = parseUserLine(text);
    if (user === undefined) {
      counts.invalid += 1;
      warn(`line ${number}: ${problem}`);
      return;
    }
    const outcome = await importUser(user);
    counts[outcome] += 1;
    if (outcome === 'conflicting') warn(`line ${number}: a user of another account has this e-mail address.`);
    if (outcome === 'created') countIfWeak(user);
  }

  function countIfWeak({ passwordHash }: ImportedUser): void {
    const { kind, isWeak } = parseImportedHash(passwordHash) ?? {};
    if (kind !== undefined && isWeak) weaker[kind] = (weaker[kind] ?? 0) + 1;
  }

  // After the first failure, the command waits for all work in progress, so that no write happens after it ends.
  await Promise.all(Array.from({ length: atOnce }, () => work().catch(error => failures.push(error))));
  if (failures.length > 0) throw failures[0];
  const kinds = Object.entries(weaker).map(([kind, count]) => `${kind}: ${count}`);
  if (kinds.length > 0) warn(`the first login of each user replaces these weaker hashes: ${kinds.join(', ')}.`);
  const failed = counts.conflicting + counts.invalid;
  if (failed === 0) return counts;
  throw new CliError(
    `${failed} of ${counts.lines} lines were not imported. The warnings show their numbers. Fix these lines and run the command again. Existing users do not change.`,
    counts,
  );
}

async function* linesOf(file: string): AsyncGenerator<NumberedLine> {
  try {
    yield* readLines(createReadStream(file), maxLine);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!/^E[A-Z]+$/.test(code)) throw error;
    throw new CliError(`Could not read ${file} (${code}). It must be a file with one JSON object per line.`);
  }
}

/** Returns the user on a line, or the problem with the line. The problem quotes no text, because lines contain password hashes. */
export function parseUserLine(text: string | undefined): { readonly user?: ImportedUser; readonly problem?: string } {
  if (text === undefined) return { problem: `it has more than ${maxLine} bytes, or is not UTF-8.` };
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return { problem: 'it is not JSON. Each line must be one JSON object.' };
  }
  const parsed = lineSchema.safeParse(content);
  if (parsed.success) {
    const { email, account: accountId, role, password_hash: passwordHash } = parsed.data;
    return { user: { email, accountId, role, passwordHash } };
  }
  const [issue] = parsed.error.issues;
  if (issue?.code === 'unrecognized_keys') {
    return { problem: 'it has an unknown field. The fields are "email", "account", "role" and "password_hash".' };
  }
  const field = fields.find(name => name === issue?.path[0]);
  if (field === undefined) return { problem: 'it is not a JSON object.' };
  const isSpecific = issue?.message === scryptRule || (field === 'email' && issue?.code === 'custom');
  return { problem: `"${field}" ${isSpecific ? issue.message : rules[field]}.` };
}

/** The maximum length of a line in bytes, which exceeds the length of an address, an account and a hash. */
const maxLine = 4_096;

/** The maximum number of lines in flight, which is enough to use the capacity of the tables. */
const atOnce = 64;

const linesPerProgress = 100;

const fields = ['email', 'account', 'role', 'password_hash'] as const;

const rules: Readonly<Record<(typeof fields)[number], string>> = {
  email: emailRule,
  account: 'must be an account id: 1 to 64 letters, digits, "_" or "-", and not reserved',
  role: `must be ${roles.join(' or ')}`,
  password_hash: `must be one of these hashes: ${importedKinds.join(', ')}`,
};

const scryptRule = 'is a scrypt hash, which is not supported. Remove the line, and create the user with a new password';

const lineSchema = z.strictObject({
  email: z.string().transform((value, context) => {
    const { email, problem = emailRule } = parseEmailAddress(value);
    return email ?? reject(context, problem);
  }),
  account: z.string().refine(value => isAccountId(value) && !isReservedAccount(value)),
  role: z.enum(roles),
  password_hash: z
    .string()
    .refine(value => !isScrypt(value), scryptRule)
    .transform(convertHash)
    .refine(value => parseImportedHash(value) !== undefined),
});

function reject(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}
