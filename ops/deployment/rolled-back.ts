import type { RollbackRecord } from '../../lambdas/platform/deployment/rollback-record.ts';

/** One function that is not at the version that its latest deployment led to. */
export interface RolledBack {
  readonly function: string;
  readonly from: number;
  readonly to: number;
  readonly at: string;
  /** `returned`: it leads to a version again that was taken back, since a later deployment failed and was undone. */
  readonly state: 'rolled back' | 'returned';
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
