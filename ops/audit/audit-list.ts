import type { Task } from '../stage/target.ts';
import { reads } from './audit.ts';
import { type AuditRecord, openAuditLog } from './audit-log.ts';

/** The operators' questions about the audit trail. */
export const actions = { listAudit: reads(listAudit) };

/** The latest commands, and whether the list ends at its limit. */
export interface AuditTrail {
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly limit: number;
  readonly records: readonly AuditRecord[];
  readonly isCutOff: boolean;
}

/** @param since - milliseconds since the epoch; by default a week ago. */
async function listAudit(
  { target }: Task,
  { since = target.clock.now() - week, limit }: { readonly since?: number; readonly limit: number },
): Promise<AuditTrail> {
  const found = await openAuditLog(target).list(since, limit + 1);
  return { since, limit, records: found.slice(0, limit), isCutOff: found.length > limit };
}

const week = 7 * 86_400_000;
