import { isoTime } from '../../../lambdas/platform/clock.ts';
import { isCutOff, isUnread, type Part } from '../../stage/operator.ts';
import type { Task } from '../../stage/target.ts';
import { findProblems } from '../../status/checks.ts';
import type { Status } from '../../status/status.command.ts';
import type { DeliveriesView } from '../../status/status-deliveries.ts';
import { type Facts, type KeptFacts, readFacts, type WebhooksView } from '../../status/status-facts.ts';
import { makeReadTraffic, type Traffic } from './traffic.ts';

/**
 * Makes the part of an operator's source that says what needs somebody. What changes seldom, or takes many reads, is read again after a
 * while only, and says when it was read.
 */
export function operatorStart({ target, progress }: Task) {
  const { now } = target.clock;
  const readTraffic = makeReadTraffic(target);
  let kept: { readonly at: number; readonly facts: KeptFacts } | undefined;
  return { readStart };

  async function readStart() {
    const known = kept && now() - kept.at <= (target.deployed ? keptFor : keptLocally) ? kept : undefined;
    const [facts, traffic] = await Promise.all([readFacts(target, progress, known?.facts), readTraffic()]);
    kept = { at: known?.at ?? now(), facts: keptOf(facts) };
    const problems = findProblems(facts, target.deployed, now());
    return startView({ ...facts, problems }, traffic, isoTime(kept.at));
  }
}

function keptOf({ deliveries, ...facts }: Facts): KeptFacts {
  return { ...facts, counted: countedOf(deliveries) };
}

function countedOf(deliveries: Part<DeliveriesView>): KeptFacts['counted'] {
  if (isUnread(deliveries)) return deliveries;
  const { looked, isCutOff, failed, held } = deliveries;
  return { looked, isCutOff, failed, held };
}

/** A stage's page renews itself each minute. Milliseconds. */
const keptFor = 5 * 60_000;

/** A local run's reads cost nothing but time. Milliseconds. */
const keptLocally = 10_000;

/** The things that need somebody, and the state of each part, or why that could not be read. */
export type StartView = ReturnType<typeof startView>;

/**
 * Returns what pages show of a status.
 *
 * @param keptSince - when what is kept for a while was read.
 */
export function startView(status: Status, traffic: Part<Traffic>, keptSince: string) {
  const { stacks, tables, throttles, kmsKey, certificates, recipients, rolledBack } = status;
  const { problems, queues, webhooks, alarms, deliveries, users, keys } = status;
  const isLocal = stacks === null;
  const parts = { traffic, queues, webhooks, deliveries, users, keys };
  const ofStage = { alarms, tables, throttles, kmsKey, certificates, recipients, rolledBack };
  return {
    problems,
    keptSince,
    ...parts,
    troubled: troubledWebhooks(webhooks, deliveries),
    undelivered: undelivered(deliveries),
    /** `null` for a local run, which has none of it. */
    stage: isLocal ? null : { stacks, ...ofStage },
    unreadParts: Object.values(isLocal ? parts : { ...parts, ...ofStage }).filter(isUnread).length,
    cutOffParts: Object.values(status).filter(isCutOff).length,
  };
}

/** A webhook that needs a look, as {@link healthOf} judges it. */
export type TroubledWebhook = ReturnType<typeof troubledWebhooks>[number];

/** Returns failing and slow webhooks, the longest first, and suspended ones: those that could be read. */
function troubledWebhooks(webhooks: Part<WebhooksView>, deliveries: Part<DeliveriesView>) {
  const { suspended, failing } = isUnread(webhooks) ? { suspended: [], failing: [] } : webhooks;
  const known = new Set([...suspended, ...failing].map(nameOf));
  const slow = isUnread(deliveries) ? [] : deliveries.slow.filter(webhook => !known.has(nameOf(webhook)));
  const healthy = { status: 'ativo', reason: null, failingSince: null, slowSince: null, updatedAt: null };
  return [
    ...failing.map(({ since, ...webhook }) => ({ ...healthy, ...webhook, failingSince: since })),
    ...slow.map(({ since, ...webhook }) => ({ ...healthy, ...webhook, slowSince: since })),
    ...suspended.map(webhook => ({ ...healthy, ...webhook, status: 'suspenso' })),
  ];
}

function nameOf({ account, event }: { readonly account: string; readonly event: string }): string {
  return `${account} ${event}`;
}

/** Returns the failed and the held deliveries of each webhook, most first. */
function undelivered(deliveries: Part<DeliveriesView>) {
  const { failed, held } = isUnread(deliveries) ? { failed: [], held: [] } : deliveries;
  const found = new Map<string, { account: string; event: string; failed: number; held: number }>();
  for (const { account, event, state, count } of [...failed, ...held]) {
    const name = nameOf({ account, event });
    found.set(name, { account, event, failed: 0, held: 0, ...found.get(name), [state]: count });
  }
  return [...found.values()].sort((one, other) => other.failed + other.held - (one.failed + one.held));
}
