import { replayInterval } from '../../../lambdas/delivery/replay/replay-runner.ts';
import { EVENT_NAMES } from '../../../lambdas/webhooks/webhook.ts';
import type { Random } from '../../../tools/support/random.ts';
import {
  atOnce,
  atRate,
  type Behave,
  type Behaviour,
  burstsEvery,
  type Period,
  type PublishPlan,
  type Tenant,
} from './tenant.ts';

/** An attack on a stage. The attackers' events start with the measured period. */
export interface Attack {
  readonly name: string;
  /** The number of attacking accounts, which determines the limit for the extra wait. */
  readonly accounts: number;
  readonly tenants: (period: Period, random: Random) => Tenant[];
}

/** Returns the healthy accounts. One event in 20 fails once, so that the run also measures retries. */
export function healthyAccounts({ until }: Period, random: Random): Tenant[] {
  return Array.from({ length: healthyAccountCount }, (_, index) => ({
    account: `healthy-${index}`,
    webhook: `healthy-${index}`,
    role: 'healthy',
    resolutionMs: 2,
    publishTimes: atRate(healthyRate)({ from: 0, until }, random),
    behave: (draw, { attempt, number }) => ({ ...quick(draw), isSuccess: attempt > 1 || number % 20 !== index }),
  }));
}

/** Returns the attack with this name. @throws {TypeError} if the attack does not exist. */
export function attackOf(name: string): Attack {
  const match = attacks.find(attack => attack.name === name);
  if (!match) throw new TypeError(`Unknown attack "${name}".`);
  return match;
}

const healthyAccountCount = 20;
const healthyRate = 5;

const everyTenSeconds = (events: number) => burstsEvery(10_000, events);

const behaviours = {
  'always hangs': { behave: hangs },
  'hangs half of the time': { behave: random => (random() < 0.5 ? hangs() : quick(random)) },
  'responds in 1.9 s': { behave: () => respondsIn(1_900) },
  'fails at once': { behave: failsImmediately },
  'name resolves in 4 s': { resolutionMs: 4_000, behave: () => respondsIn(50) },
} satisfies Record<string, AttackerBehaviour>;

/** The behaviour of the attackers. Times are relative to the start of the attack. */
interface AttackerBehaviour extends Pick<Tenant, 'behave' | 'putIntervalMs' | 'isReplayed'> {
  readonly resolutionMs?: number;
}

/** Each PUT waits for the resolution of its host name. Without a limit, the PUTs would occupy all concurrent executions of a new AWS account. */
export const silentPuts = 'PUT twice a second, name silent';

/** A burst of events to a healthy receiver. */
export const healthyBurst = 'responds in 100 ms, burst of 5,000';

export const attacks: readonly Attack[] = [
  ...Object.entries<AttackerBehaviour>(behaviours).flatMap(([name, attackerBehaviour]) => [
    attack(`${name}, 10/s`, 1, atRate(10), attackerBehaviour),
    attack(`${name}, 100/s`, 1, atRate(100), attackerBehaviour),
    attack(`${name}, burst of 5,000`, 1, atOnce(5_000), attackerBehaviour),
    attack(`50 accounts: ${name}, 1/s`, 50, atRate(1), attackerBehaviour),
  ]),
  ...(['always hangs', 'responds in 1.9 s'] as const).flatMap(name => [
    attack(`50 accounts: ${name}, 100 each every 10 s`, 50, everyTenSeconds(100), behaviours[name]),
    attack(`${name}, 5,000 every 10 s`, 1, everyTenSeconds(5_000), behaviours[name]),
    tenReplays(name),
  ]),
  attack('50 accounts: fails at once, 100 each every 10 s', 50, everyTenSeconds(100), { behave: failsImmediately }),
  attack('50 accounts: responds in 100 ms, 100 each every 10 s', 50, everyTenSeconds(100), {
    behave: () => respondsIn(100),
  }),
  attack(healthyBurst, 1, atOnce(5_000), { behave: () => respondsIn(100) }),
  attack('always hangs, 30/s, PUT every 2 s', 1, atRate(30), { behave: hangs, putIntervalMs: 2_000 }),
  attack(silentPuts, 1, () => [], { resolutionMs: Number.POSITIVE_INFINITY, putIntervalMs: 500, behave: hangs }),
  attack('fails at once, hangs after 70 s, 100/s', 1, atRate(100), failsThenHangs()),
  attack('50 accounts: fails at once, hangs after 70 s, 1/s', 50, atRate(1), failsThenHangs()),
  attack('responds in 2.5 s, hangs after 90 s, 30/s', 1, atRate(30), {
    behave: (_random, _event, age) => (age < 90_000 ? respondsIn(2_500) : hangs()),
  }),
  attack('responds in 50 ms, burst of 2,000, hangs after 1 s', 1, atOnce(2_000), {
    behave: (_random, _event, age) => (age < 1_000 ? respondsIn(50) : hangs()),
  }),
  attack('name in 1.9 s, stalls in TLS, 100/s', 1, atRate(100), { resolutionMs: 1_900, behave: hangs }),
  eightWebhooks('8 webhooks of one account: always hangs, 625 each every 10 s'),
];

function attack(name: string, accounts: number, publish: PublishPlan, attackerBehaviour: AttackerBehaviour): Attack {
  const { resolutionMs = 2, behave, ...rest } = attackerBehaviour;
  return {
    name,
    accounts,
    tenants: (period, random) => [
      ...Array.from({ length: accounts }, (_, index) => ({
        ...attacker(index),
        ...rest,
        resolutionMs,
        publishTimes: publish(period, random),
        behave: withAge(period.from, behave),
      })),
      bystander(period),
    ],
  };
}

/** Starts ten replays at the same time, as if an operator replayed all accounts. The limit for one attacking account applies. */
function tenReplays(name: keyof typeof behaviours): Attack {
  const attackerBehaviour = { ...behaviours[name], isReplayed: true };
  return { ...attack(`10 replays at once: ${name}`, 10, burstsEvery(replayInterval), attackerBehaviour), accounts: 1 };
}

function eightWebhooks(name: string): Attack {
  const one = attack(name, EVENT_NAMES.length, everyTenSeconds(625), { behave: hangs });
  return {
    ...one,
    accounts: 1,
    tenants: (period, random) =>
      one.tenants(period, random).map((tenant, index) => {
        const event = EVENT_NAMES[index];
        return event ? { ...tenant, account: 'attacker', event } : tenant; // the bystander
      }),
  };
}

function attacker(index: number): Pick<Tenant, 'account' | 'webhook' | 'role'> {
  return { account: `attacker-${index}`, webhook: `attacker-${index}`, role: 'attacker' };
}

/** Returns a harmless webhook that responds in 3 s. One event in 20 fails once, to cause retries. */
function bystander(period: Period): Tenant {
  const publishTimes = burstsEvery(500)(period, () => 0);
  const name = { account: 'bystander', webhook: 'bystander' };
  return {
    ...{ ...name, role: 'bystander', resolutionMs: 2, publishTimes },
    behave: (_random, { attempt, number }) => ({ responseMs: 3_000, isSuccess: attempt > 1 || number % 20 > 0 }),
  };
}

function withAge(from: number, behave: Behave): Behave {
  return (random, event, now) => behave(random, event, now - from);
}

/** Returns a behaviour that fails until the service moves first attempts to the retry lane, and then hangs. */
function failsThenHangs(): AttackerBehaviour {
  return { behave: (_random, _event, age) => (age < 70_000 ? failsImmediately() : hangs()) };
}

function hangs(): Behaviour {
  return { responseMs: Number.POSITIVE_INFINITY, isSuccess: false };
}

function failsImmediately(): Behaviour {
  return { responseMs: 20, isSuccess: false };
}

function respondsIn(milliseconds: number): Behaviour {
  return { responseMs: milliseconds, isSuccess: true };
}

function quick(random: Random): Behaviour {
  return respondsIn(20 + 80 * random());
}
