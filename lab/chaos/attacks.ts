import { setTimeout as pause } from 'node:timers/promises';
import type { AttackBehaviourName } from './attack-behaviours.ts';
import { publishEvenly, publishTogether } from './paced-publishing.ts';
import type { PreparedRun } from './prepared-run.ts';
import type { Registration } from './registrations.ts';

/** An attack: accounts whose receivers behave alike, and what is done to them. Times in milliseconds. */
export interface Attack {
  readonly name: string;
  readonly accounts: number;
  /** Webhooks of each account. */
  readonly webhooks: number;
  readonly behaviour: AttackBehaviourName;
  /** Its webhooks have only failed, and for long enough that first attempts are left to the retry lane. */
  readonly hasFailed?: true;
  /** Events a second of each webhook. */
  readonly rate?: number;
  /** Events of each webhook, of all at the same moment: once, or every `burstEvery`. */
  readonly burst?: number;
  readonly burstEvery?: number;
  readonly putEvery?: number;
  /** Resends a second of each webhook's deliveries. The product allows 60 a minute. */
  readonly resends?: number;
}

/**
 * The attacks of `npm run world -- --isolation`, scaled down to what two processors can do beside everything else that runs on them, and
 * those that need the API or more than one webhook. Runs begin with different ones, at equal distances in this list.
 */
export const attacks: readonly Attack[] = [
  {
    name: '12 accounts: always hang, 20 events at once every 5 s',
    accounts: 12,
    webhooks: 1,
    behaviour: 'hanging',
    burst: 20,
    burstEvery: 5_000,
  },
  { name: 'always hangs, 3/s', accounts: 1, webhooks: 1, behaviour: 'hanging', rate: 3 },
  { name: 'always hangs, burst of 600', accounts: 1, webhooks: 1, behaviour: 'hanging', burst: 600 },
  { name: 'hangs half of the time, 3/s', accounts: 1, webhooks: 1, behaviour: 'halfHanging', rate: 3 },
  { name: '12 accounts: always hang, 1/s', accounts: 12, webhooks: 1, behaviour: 'hanging', rate: 1 },
  {
    name: 'always hangs, 3/s, PUT every 2 s',
    accounts: 1,
    webhooks: 1,
    behaviour: 'hanging',
    rate: 3,
    putEvery: 2_000,
  },
  {
    name: '12 accounts: answer in 1.9 s, 20 events at once every 5 s',
    accounts: 12,
    webhooks: 1,
    behaviour: 'almostSlow',
    burst: 20,
    burstEvery: 5_000,
  },
  { name: 'answers in 1.9 s, 6/s', accounts: 1, webhooks: 1, behaviour: 'almostSlow', rate: 6 },
  {
    name: '8 webhooks of one account: always hang, burst of 50 each',
    accounts: 1,
    webhooks: 8,
    behaviour: 'hanging',
    burst: 50,
  },
  {
    name: '96 webhooks of 12 accounts: hang once each, all at once',
    accounts: 12,
    webhooks: 8,
    behaviour: 'hangingOnce',
    burst: 1,
  },
  {
    name: '12 accounts: names of 1.9 s and a TLS handshake that stalls, 1/s',
    accounts: 12,
    webhooks: 1,
    behaviour: 'stalling',
    rate: 1,
  },
  {
    name: '12 accounts: fail at once for a minute, then hang, 1/s',
    accounts: 12,
    webhooks: 1,
    behaviour: 'failingThenHanging',
    hasFailed: true,
    rate: 1,
  },
  {
    name: 'always hangs, 3/s, with 3 resends a second',
    accounts: 1,
    webhooks: 1,
    behaviour: 'hanging',
    rate: 3,
    resends: 3,
  },
];

/** Attacks for `length` milliseconds. @throws when the API refuses the attack's requests: then there is none to measure. */
export async function runAttack(
  prepared: Pick<PreparedRun, 'publish'>,
  { rate = 0, burst = 0, burstEvery = Number.POSITIVE_INFINITY, putEvery, resends }: Attack,
  attackers: readonly Registration[],
  length: number,
): Promise<void> {
  const start = Date.now();
  const resendable: (() => Promise<boolean>)[] = [];
  await Promise.all([
    publishEvenly(prepared, attackers, rate, length, (registration, id) =>
      resendable.push(() => registration.resend(id)),
    ),
    every(burstEvery, () => publishTogether(prepared, attackers, burst)),
    putEvery !== undefined && every(putEvery, () => Promise.all(attackers.map(({ replace }) => replace()))),
    resends !== undefined && resendAll(resends * attackers.length),
  ]);

  async function every(interval: number, act: () => Promise<unknown>, from = start): Promise<void> {
    for (let at = from; at < start + length; at += interval) {
      await pause(Math.max(0, at - Date.now()));
      await act();
    }
  }

  /** Resends each delivery once, in the order of their publishing. */
  async function resendAll(perSecond: number): Promise<void> {
    let accepted = 0;
    const resendNext = async () => {
      if (await resendable.shift()?.()) accepted += 1;
    };
    await every(1_000 / perSecond, resendNext, start + untilStored);
    if (accepted === 0) throw new Error('No resend was accepted: nothing was tried.');
  }
}

/** After this long the first deliveries are stored, or at least under way. Milliseconds. */
const untilStored = 2_000;
