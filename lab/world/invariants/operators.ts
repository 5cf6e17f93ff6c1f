import { headPart } from '../../../lambdas/delivery/store/head-key.ts';
import { eventName } from '../arrival.ts';
import type { World } from '../make-world.ts';
import type { ExecutedCommand } from '../people/people.ts';
import { itemsWithin } from '../watched-tables.ts';
import type { Evidence } from './evidence.ts';
import { idsOf } from './orphans.ts';
import type { Check, Violate } from './violation.ts';

/** Checks the effects of operators' commands. A suspension must last until an operator ends it. A deletion must be complete. */
export function checkOperators({ people, tables, watched }: World, evidence: () => Evidence, violate: Violate): Check {
  return { checkAtEnd };

  function checkAtEnd(): void {
    for (const execution of people.commands()) {
      if (execution.command.name === 'suspend') checkSuspension(execution.command.account, execution);
      if (execution.command.name === 'reactivate') checkReactivation(execution.command.account, execution);
      if (execution.command.name === 'deleteAccount') checkDeletion(execution.command.account, execution);
    }
  }

  /** Checks that the webhook stays suspended. `posts.ts` checks that no POST follows a read of a suspended webhook. */
  function checkSuspension(account: string, { startedAt, endedAt }: ExecutedCommand): void {
    const ends = people.commands().filter(({ command }) => endsSuspension(command, account));
    const end = Math.min(...ends.filter(one => one.endedAt >= startedAt).map(one => one.startedAt));
    if (end < endedAt) return;
    if (itemsOf(account, endedAt, end).some(item => item?.suspensionReason !== 'operator'))
      violate(`not suspended although an operator suspended it: ${account}`);
  }

  function checkReactivation(account: string, { startedAt, endedAt }: ExecutedCommand): void {
    if (itemsOf(account, startedAt, endedAt).every(item => item?.status === 'suspended'))
      violate(`suspended although an operator reactivated it: ${account}`);
  }

  /** Checks that a deletion is complete. Ignores items of a new account with the same id, and later writes by consumers. */
  function checkDeletion(account: string, { startedAt, endedAt }: ExecutedCommand): void {
    const deliveries = watched.changesOf('Deliveries');
    for (const id of endedAt < Number.POSITIVE_INFINITY ? idsOf({ id: account }) : []) {
      const latest = deliveries.get(`${id} ${headPart}`)?.findLast(({ at }) => at <= endedAt);
      if (latest?.item && latest.at < startedAt) violate(`${id} remains after the deletion of ${account}`);
    }
    for (const table of ['Webhooks', 'Deliveries', 'Users'] as const) {
      const remaining = tables
        .items(table)
        .filter(item => item.accountId === account && Number(item.createdAt) < startedAt);
      if (remaining.length > 0)
        violate(`${remaining.length} items of ${table} remain after the deletion of ${account}`);
    }
  }

  function itemsOf(accountId: string, from: number, until: number) {
    return itemsWithin(evidence().webhookChanges({ accountId, eventName }), from, until);
  }
}

/** Returns whether a command ends the suspension of an account's webhook. */
function endsSuspension(command: ExecutedCommand['command'], account: string): boolean {
  return (command.name === 'reactivate' || command.name === 'deleteAccount') && command.account === account;
}
