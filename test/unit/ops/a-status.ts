import type { Status } from '../../../ops/status/status.command.ts';

/** The deliveries of a status: none has ended badly or is late. */
export const noDeliveries = {
  ...{ looked: 0, isCutOff: false, failed: [], held: [], slow: [] },
  late: { groups: [], isCutOff: false },
};

/** Returns the status of a stage of which all could be read, and where all is well, but for changes. */
export function aStatus(changes: Partial<Status> = {}): Status {
  return {
    ...{ target: 'stage dev', stage: 'dev', region: 'sa-east-1', account: '111122223333', checkout: '0.1.0' },
    ...{ stacks: [], tables: [], throttles: [], certificates: [], movedAliases: [], queues: [] },
    kmsKey: { arn: 'arn:aws:kms:sa-east-1:111122223333:key/1', state: 'Enabled', deletedAt: null },
    recipients: [{ mail: 'page', address: 'ops@acme.com', state: 'confirmed' }],
    alarms: { total: 28, isCutOff: false, ringing: [] },
    webhooks: { read: 0, isCutOff: false, suspended: [], failing: [] },
    deliveries: noDeliveries,
    ...{ keys: [], problems: [] },
    ...changes,
  };
}
