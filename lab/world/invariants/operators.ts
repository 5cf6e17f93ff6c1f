import { headPart } from '../../../lambdas/delivery/store/head-key.ts';
import { eventName } from '../arrival.ts';
import type { World } from '../make-world.ts';
import type { DoneWork } from '../people/people.ts';
import { itemsWithin } from '../watched-tables.ts';
import type { Evidence } from './evidence.ts';
import { idsOf } from './orphans.ts';
import type { Judgement, Violate } from './violation.ts';

/** Checks the effects of operators' commands. A suspension lasts until an operator ends it, and a deletion is complete. */
export function judgeOperators(
  { people, tables, watched }: World,
  evidence: () => Evidence,
  violate: Violate,
): Judgement {
  return { judgeEnd };

  function judgeEnd(): void {
    for (const work of people.works()) {
      if (work.asked.work === 'suspend') judgeSuspension(work.asked.account, work);
      if (work.asked.work === 'reactivate') judgeReactivation(work.asked.account, work);
      if (work.asked.work === 'deleteAccount') judgeDeletion(work.asked.account, work);
    }
  }

  /** Checks that the webhook stays suspended. `posts.ts` checks that no POST follows a read of a suspended webhook. */
  function judgeSuspension(account: string, { beganAt, answeredAt }: DoneWork): void {
    const ends = people.works().filter(({ asked }) => endsSuspension(asked, account));
    const end = Math.min(...ends.filter(one => one.answeredAt >= beganAt).map(one => one.beganAt));
    if (end < answeredAt) return;
    if (itemsOf(account, answeredAt, end).some(item => item?.suspensionReason !== 'operator'))
      violate(`not suspended although an operator suspended it: ${account}`);
  }

  function judgeReactivation(account: string, { beganAt, answeredAt }: DoneWork): void {
    if (itemsOf(account, beganAt, answeredAt).every(item => item?.status === 'suspended'))
      violate(`suspended although an operator reactivated it: ${account}`);
  }

  /** Checks that a deletion is complete. It excludes items of a new account with the same id, and later writes by consumers. */
  function judgeDeletion(account: string, { beganAt, answeredAt }: DoneWork): void {
    const deliveries = watched.changesOf('Deliveries');
    for (const id of answeredAt < Number.POSITIVE_INFINITY ? idsOf({ id: account }) : []) {
      const latest = deliveries.get(`${id} ${headPart}`)?.findLast(({ at }) => at <= answeredAt);
      if (latest?.item && latest.at < beganAt) violate(`${id} remains after the deletion of ${account}`);
    }
    for (const table of ['Webhooks', 'Deliveries', 'Users'] as const) {
      const left = tables.items(table).filter(item => item.accountId === account && Number(item.createdAt) < beganAt);
      if (left.length > 0) violate(`${left.length} items of ${table} remain after the deletion of ${account}`);
    }
  }

  function itemsOf(accountId: string, from: number, until: number) {
    return itemsWithin(evidence().webhookChanges({ accountId, eventName }), from, until);
  }
}

/** Returns whether a command ends the suspension of an account's webhook. Deleting the account also ends the suspension. */
function endsSuspension(asked: DoneWork['asked'], account: string): boolean {
  return (asked.work === 'reactivate' || asked.work === 'deleteAccount') && asked.account === account;
}
