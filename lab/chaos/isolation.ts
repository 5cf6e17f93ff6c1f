import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { failingForLong } from '../../lambdas/delivery/limits.ts';
import { functionProcesses, ownProcessorTime } from '../../tools/support/function-processes.ts';
import { makeAttackBehaviours } from './attack-behaviours.ts';
import { type Attack, runAttack } from './attacks.ts';
import type { PlannedRun } from './isolation-plan.ts';
import { type Moments, publishEvenly, publishTogether } from './paced-publishing.ts';
import { type PreparedRun, startPreparedRun } from './prepared-run.ts';
import { accountsOf, type Registration } from './registrations.ts';

/** The settings of an isolation measurement. Times in milliseconds. */
export interface IsolationSettings {
  /** Accounts with healthy receivers: their first attempts are measured. */
  readonly healthy: number;
  /** Accounts whose receivers fail once on every event: their second attempts are measured. */
  readonly failing: number;
  /** Events a second of each of these. */
  readonly rate: number;
  /** The time that each situation lasts. */
  readonly length: number;
  /** Batches that each lane works on at once, by the name of its stage value. */
  readonly places: Readonly<Record<'first' | 'retry' | 'slow', number>>;
  /** The deadline of an attempt. */
  readonly attemptTimeout: number;
  /** The time that healthy receivers take to answer. */
  readonly answersAfter: number;
  /** The wait before the second attempt, in whole seconds, as the queue takes it. */
  readonly wait: number;
  /** The most that others may be later in the 99th percentile than alone. */
  readonly longestExtra: number;
}

/** The name of the situation without an attack. */
export const alone = 'alone';

/** The wait of an event that never came. */
export const never = Number.POSITIVE_INFINITY;

/** The measurements of one situation in one run. Waits are in milliseconds; `never` is that of an event that did not come. */
export interface SituationResult extends Pick<PlannedRun, 'round' | 'order'> {
  readonly situation: string;
  /** True when its attack was the first of the run. */
  readonly isFirst: boolean;
  /** From publishing to the arrival of the first attempt. */
  readonly first: readonly number[];
  /** By how much second attempts arrive after they were due. */
  readonly retries: readonly number[];
  /** Attempts a second that reached the attackers' receivers. */
  readonly attempts: number;
  /** Share of the machine's processors that was at work: on anything, and on other programs. */
  readonly busy: number;
  readonly others: number;
}

/**
 * Measures what attacks do to the accounts beside them: first attempts from publishing to arrival, and second attempts from
 * when they are due, alone and beside each attack. Every attack has accounts of its own that nothing is known of, and finds the
 * slow lane without processes, as the first one of a day does.
 */
export async function measureIsolation(
  plan: readonly PlannedRun[],
  settings: IsolationSettings,
  say: Say,
): Promise<readonly SituationResult[]> {
  const rounds = Math.max(...plan.map(({ round }) => round));
  const situations = plan.reduce((sum, { attacks }) => sum + attacks.length + 1, 0);
  const results: SituationResult[] = [];
  const startedAt = Date.now();
  for (const planned of plan) {
    const sayNext = (situation: string) => {
      const each = results.length === 0 ? 1.6 * settings.length : (Date.now() - startedAt) / results.length;
      const minutes = Math.ceil((each * (situations - results.length)) / 60_000);
      say(`  round ${planned.round} of ${rounds}, ${planned.order}: ${situation} … (about ${minutes} min left in all)`);
    };
    await measureRun(planned, settings, sayNext, result => results.push(result));
  }
  return results;
}

type Say = (line: string) => void;

async function measureRun(
  { round, order, attacks }: PlannedRun,
  settings: IsolationSettings,
  sayNext: (situation: string) => void,
  onResult: (result: SituationResult) => void,
): Promise<void> {
  sayNext('starting');
  const behaviours = makeAttackBehaviours(settings.answersAfter, failingForLong);
  const prepared = await startPreparedRun(
    Object.values(behaviours),
    [
      ...accountsOf('healthy', settings.healthy, behaviours.quick),
      ...accountsOf('failing', settings.failing, behaviours.failing),
      ...attacks.flatMap(({ accounts, webhooks, behaviour }, index) =>
        accountsOf(`attack${index}-`, accounts, behaviours[behaviour], webhooks),
      ),
    ],
    ...['--retry-schedule', `${settings.wait / 1_000}s`, '--queue-order', order],
    ...['--set', `attemptTimeout=${settings.attemptTimeout}ms`],
    ...Object.entries(settings.places).flatMap(([lane, places]) => ['--set', `${lane}Concurrency=${places}`]),
  );
  try {
    const attackersOf = (index: number) => prepared.registrationsOf(`attack${index}-`);
    const failed = attacks.flatMap(({ hasFailed }, index) => (hasFailed ? attackersOf(index) : []));
    await publishTogether(prepared, failed, 1);
    const failedLong = Date.now() + failingForLong + untilFailed;
    await warmUp(prepared, settings);
    sayNext(alone);
    onResult({ round, order, situation: alone, isFirst: false, ...(await measure(prepared, settings)) });
    for (const [index, attack] of attacks.entries()) {
      sayNext(attack.name);
      if (attack.hasFailed) await pause(Math.max(0, failedLong - Date.now()));
      const attackers = attackersOf(index);
      const measured = await measure(prepared, settings, attack, attackers);
      onResult({ round, order, situation: attack.name, isFirst: index === 0, ...measured });
      await emptySlowLane(prepared, settings);
    }
  } finally {
    await prepared.stop();
  }
}

/** Publishes until the processes of the quick lanes have started: on AWS they do not share a processor. */
async function warmUp(prepared: PreparedRun, settings: IsolationSettings): Promise<void> {
  const { run, publish, registrationsOf } = prepared;
  const isWarm = () =>
    processesOf(run.processId, 'DeliverFirst').length >= settings.places.first &&
    processesOf(run.processId, 'DeliverRetry').length >= settings.places.retry;
  const limit = Date.now() + longestWarmUp;
  while (!isWarm() && Date.now() < limit) {
    const all = [...registrationsOf('failing'), ...registrationsOf('healthy')];
    await Promise.all(all.map(registration => publish(registration, warmUpEvents)));
    await pause(1_000);
  }
  await pause(3 * settings.wait);
}

async function measure(
  prepared: PreparedRun,
  settings: IsolationSettings,
  attack?: Attack,
  attackers: readonly Registration[] = [],
): Promise<Omit<SituationResult, 'round' | 'order' | 'situation' | 'isFirst'>> {
  const { length, rate, answersAfter, wait } = settings;
  const { receivers, registrationsOf } = prepared;
  const [before, ownBefore, arrivedBefore] = [processorTimes(), ownProcessorTime(), receivers.arrivals.length];
  const [quick, failing] = await Promise.all([
    publishEvenly(prepared, registrationsOf('healthy'), rate, length),
    publishEvenly(prepared, registrationsOf('failing'), rate, length),
    attack && runAttack(prepared, attack, attackers, length),
  ]);
  const [after, ownAfter] = [processorTimes(), ownProcessorTime()];
  const hosts = new Set(attackers.map(({ host }) => host));
  const attempts = receivers.arrivals.slice(arrivedBefore).filter(({ headers }) => hosts.has(String(headers.host)));
  // An attack that does not take place would measure nothing.
  if (attack && attempts.length > 0 === (attack.behaviour === 'stalling')) {
    throw new Error(`"${attack.name}": ${attempts.length} attempts reached its receivers.`);
  }
  const removed = Promise.all(attackers.map(({ remove }) => remove())); // ends what still waits
  const first = [...(await arrivalsOf(prepared, quick, 1, length))].map(
    ([id, [arrival = never]]) => arrival - (quick.get(id) ?? 0),
  );
  const retries = [...(await arrivalsOf(prepared, failing, 2, length)).values()].map(([one = never, other = never]) =>
    other === never ? never : other - (one + answersAfter + wait),
  );
  await removed;
  const all = after.all - before.all;
  const atWork = after.atWork - before.atWork;
  return {
    first,
    retries,
    attempts: attempts.length / (length / 1_000),
    busy: atWork / all,
    others: Math.max(0, atWork - (ownAfter - ownBefore)) / all,
  };
}

/** Waits until what hangs has run into its deadline; then the slow lane has no process left, and the next attack finds none. */
async function emptySlowLane({ run, waiting }: PreparedRun, { attemptTimeout }: IsolationSettings): Promise<void> {
  const limit = Date.now() + attemptTimeout + 2_000;
  while ((await waiting()) > 0 && Date.now() < limit) await pause(200);
  for (const id of processesOf(run.processId, 'DeliverSlow')) process.kill(id, 'SIGKILL');
}

function processesOf(ancestor: number, name: string): readonly number[] {
  return functionProcesses(ancestor, new RegExp(`-${name}[0-9A-F]{8}$`));
}

/** A first attempt that fails at once has failed after this long. */
const untilFailed = 5_000;

/** The longest time that the run may take to start its processes, and the events that make it start them all. */
const longestWarmUp = 120_000;
const warmUpEvents = 10;

/** Milliseconds that all processors together have been at work, and at anything at all. */
function processorTimes() {
  const times = cpus().map(cpu => cpu.times);
  const all = times.flatMap(time => Object.values(time)).reduce((sum, value) => sum + value, 0);
  return { all, atWork: all - times.reduce((sum, { idle }) => sum + idle, 0) };
}

/** Waits for `wanted` attempts of each event to arrive, for `longest` at most. Returns all arrivals, oldest first. */
async function arrivalsOf({ receivers }: PreparedRun, moments: Moments, wanted: number, longest: number) {
  const limit = Date.now() + longest;
  for (;;) {
    const found = new Map([...moments.keys()].map(id => [id, [] as number[]]));
    for (const { headers, at } of receivers.arrivals) found.get(String(headers['webhook-id']))?.push(at);
    if (Date.now() > limit || [...found.values()].every(arrivals => arrivals.length >= wanted)) return found;
    await pause(200);
  }
}
