import { reads } from './audit.ts';
import { type AuditRecord, openAuditLog } from './audit-log.ts';
import type { Task } from './target.ts';

/** The operators' questions about the audit trail. */
export const actions = { listAudit: reads(listAudit) };

/** The commands to list. */
export interface AuditQuery {
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly limit: number;
}

/** The latest commands, and whether the list ends at its limit. */
export interface AuditTrail extends AuditQuery {
  readonly records: readonly AuditRecord[];
  readonly isCutOff: boolean;
}

async function listAudit({ target }: Task, { since, limit }: AuditQuery): Promise<AuditTrail> {
  const found = await openAuditLog(target).list(since, limit + 1);
  return { since, limit, records: found.slice(0, limit), isCutOff: found.length > limit };
}
