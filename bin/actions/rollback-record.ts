import { isoTime } from '../../lambdas/platform/clock.ts';

/**
 * The record of a function's roll-back. It is the description of its alias `live`: what the alias leads to and why are changed by
 * one call, and a deployment leaves the record as it is. It holds as long as the alias leads to `to`.
 */
export interface RollbackRecord {
  /** The versions that were taken back, the newest first: a later roll-back passes over them. */
  readonly from: readonly number[];
  readonly to: number;
  /** RFC 3339. */
  readonly at: string;
}

/** One function that is not at the version that its latest deployment led to. */
export interface RolledBack {
  readonly function: string;
  readonly from: number;
  readonly to: number;
  readonly at: string;
  /** `returned`: it leads to a version again that was taken back, since a later deployment failed and was undone. */
  readonly state: 'rolled back' | 'returned';
}

/** Returns a record as the alias has it. */
export function writeRecord({ from, to }: Omit<RollbackRecord, 'at'>, now: number): string {
  return `rolled back from ${from.join(', ')} to ${to} at ${isoTime(now)}`;
}

/** Returns the record in the description of an alias; `undefined` where there is none. */
export function readRecord(description = ''): RollbackRecord | undefined {
  const [, from = '', to = '', at = ''] = /^rolled back from ([\d, ]+) to (\d+) at (\S+)$/.exec(description) ?? [];
  return to === '' ? undefined : { from: from.split(', ').map(Number), to: Number(to), at };
}

/** Returns what is rolled back of some functions, or was and returned. */
export function findRolledBack(
  functions: readonly {
    readonly name: string;
    readonly version: number;
    readonly record: RollbackRecord | undefined;
  }[],
): readonly RolledBack[] {
  return functions.flatMap(({ name, version, record }): RolledBack[] => {
    if (!record) return [];
    const [from = 0] = record.from;
    const { to, at } = record;
    if (version === to) return [{ function: name, from, to, at, state: 'rolled back' }];
    return record.from.includes(version) ? [{ function: name, from: version, to, at, state: 'returned' }] : [];
  });
}
