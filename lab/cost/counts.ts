import type { UsageLine } from '@emissor/local-cloud/testing';
import { assumptions } from './assumptions.ts';
import type { Quantities } from './prices.ts';

/** The actions that are counted. */
export const actions = [
  'login',
  'refresh',
  'quiet',
  'busy',
  'exhausted',
  'exhaustedEmpty',
  'registration',
  'test',
  'withoutWebhook',
] as const;

export type Action = (typeof actions)[number];

/** The counts of one action in a local run. Of a batch they are shares. */
export interface Counts {
  /** Requests to an HTTP API. */
  readonly apiRequests: number;
  readonly invocations: number;
  /** Of the functions that were invoked. */
  readonly megabytes: number;
  readonly storeCalls: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  /** Sent, received, deleted and hidden, by the functions, their triggers and the publisher. */
  readonly queueRequests: number;
  /** Those of them that are about the events queue, whose messages have groups. */
  readonly fairQueueRequests: number;
  readonly keyRequests: number;
  readonly logLines: number;
  readonly logBytes: number;
  /** Of the APIs' access logs, which have a line for each request. */
  readonly accessLogBytes: number;
}

/** Those of them that are counted in one process, with clocks that are moved: no machine is too slow for them. */
export type SteadyCounts = Pick<
  Counts,
  'invocations' | 'storeCalls' | 'readUnits' | 'writeUnits' | 'queueRequests' | 'fairQueueRequests'
>;

/**
 * Counts the lines of a usage file that one action left. A trigger receives and deletes once for each invocation: what it asks for
 * here while nothing comes belongs to the idle month. Keys that are read and opened anew after a while are shared by many, and left
 * out, and so are sweeps.
 *
 * @param around - requests to an API, those by which the publisher sent the event, and the bytes of a line in the API's access log
 */
export function countUsage(lines: readonly UsageLine[], around: Around): Counts {
  const isCounted = (line: UsageLine) => {
    if (line.kind === 'request') return !shared.has(line.operation) && !isSweep(line.caller);
    return !isSweep(line.function);
  };
  return countAll(lines.filter(isCounted), around);
}

/** Counts what the runs of the sweeper left, queries included. Returns the share of one. */
export function countSweeps(lines: readonly UsageLine[]): Counts {
  const counts = countAll(
    lines.filter(line => isSweep(line.kind === 'request' ? line.caller : line.function)),
    { apiRequests: 0, published: 0, accessLineBytes: 0 },
  );
  return shareOf(counts, counts.invocations);
}

/** Operations by which the keyring is read and its keys are opened. */
const shared: ReadonlySet<string> = new Set(['Query', 'Decrypt']);

function isSweep(name: string): boolean {
  return name.includes('Sweep');
}

/** The part of an action that its usage file does not tell. */
interface Around {
  readonly apiRequests: number;
  readonly published: number;
  readonly accessLineBytes: number;
}

function countAll(lines: readonly UsageLine[], { apiRequests, published, accessLineBytes }: Around): Counts {
  const invocations = lines.filter(line => line.kind === 'invocation');
  const logs = lines.filter(line => line.kind === 'log');
  const requests = lines.filter(line => line.kind === 'request' && line.caller !== 'local');
  const ofService = (name: string) => requests.filter(line => line.kind === 'request' && line.service === name);
  const store = ofService('dynamodb');
  const sum = (unit: 'read' | 'write') =>
    store.reduce((total, line) => total + (line.kind === 'request' ? (line.units?.[unit] ?? 0) : 0), 0);
  const isConsumer = ({ function: name }: { readonly function: string }) => /Deliver(?:First|Retry|Slow)/.test(name);
  const triggered = invocations.filter(isConsumer);
  const first = triggered.filter(({ function: name }) => name.includes('DeliverFirst'));
  const byFirst = ofService('sqs').filter(
    line => line.kind === 'request' && /DeliverFirst/.test(line.caller) && !line.operation.startsWith('Send'),
  );
  return {
    apiRequests,
    invocations: invocations.length,
    megabytes: Math.max(0, ...invocations.map(({ memory }) => memory)),
    storeCalls: store.length,
    readUnits: sum('read'),
    writeUnits: sum('write'),
    queueRequests: published + 2 * triggered.length + ofService('sqs').length,
    fairQueueRequests: published + 2 * first.length + byFirst.length,
    keyRequests: ofService('kms').length,
    logLines: logs.length,
    logBytes: logs.reduce((total, { bytes }) => total + bytes, 0),
    accessLogBytes: apiRequests * accessLineBytes,
  };
}

/** Returns each count divided by a number, but the memory of the functions. */
export function shareOf<Given extends SteadyCounts>(counts: Given, share: number): Given {
  return mapCounts(counts, (value, name) => (name === 'megabytes' ? value : value / share));
}

/**
 * Returns the counts that are in the middle.
 *
 * @throws {BusyMachineError} unless most of them have that number of lines in the log
 */
export function middleOf(what: string, all: readonly Counts[]): Counts {
  const [first] = all;
  if (!first) throw new Error('Nothing was counted.');
  const middle = mapCounts(first, (_, name) => {
    const sorted = all.map(counts => counts[name]).toSorted((one, other) => one - other);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  });
  const lines = all.map(({ logLines }) => logLines);
  if (2 * lines.filter(number => number === middle.logLines).length <= lines.length)
    throw new BusyMachineError(`${what}: ${lines.join(', ')} lines in the log`);
  return middle;
}

/**
 * Returns the counts of a local run with those in place that do not depend on the machine.
 *
 * @throws {BusyMachineError} where the run took another number of invocations or, without long waits, of units
 */
export function steadied(action: Action, counts: Counts, steady: SteadyCounts): Counts {
  const compared = [
    'invocations',
    ...(action.startsWith('exhausted') ? [] : (['readUnits', 'writeUnits'] as const)),
  ] as const;
  for (const name of compared) {
    if (Math.abs(counts[name] - steady[name]) > 1e-9)
      throw new BusyMachineError(`${action}: ${counts[name]} ${name}, and ${steady[name]} in one process`);
  }
  return { ...counts, ...steady };
}

/** Thrown for counts that are not those of a machine with time to spare, or of a code that the counts in one process know nothing of. */
export class BusyMachineError extends Error {
  override readonly name = 'BusyMachineError';
}

/** Returns the quantities that AWS charges for an action, and the milliseconds that they suppose of an invocation. */
export function quantitiesOf(action: Action, counts: Counts): Quantities {
  const { apiRequests, invocations, megabytes } = counts;
  const logBytes = counts.logBytes + counts.accessLogBytes;
  return {
    apiRequest: apiRequests,
    invocation: invocations,
    gigabyteSecond: (invocations * millisecondsOf(action, counts) * megabytes) / 1_024 / 1_000,
    writeUnit: counts.writeUnits,
    readUnit: counts.readUnits,
    queueRequest: counts.queueRequests,
    fairQueueRequest: counts.fairQueueRequests,
    keyRequest: counts.keyRequests,
    logGigabyte: (logBytes + (counts.logLines + apiRequests) * assumptions.perLineBytes) / 1e9,
  };
}

/** Returns the milliseconds that an invocation is taken to last: it computes, calls the store, and may wait for receivers, all at once. */
export function millisecondsOf(action: Action, { invocations, megabytes, storeCalls }: Counts): number {
  const { processorMs, timesSlower, processorMegabytes, storeCallMs, receiverMs } = assumptions;
  const share = Math.min(1, megabytes / processorMegabytes);
  const own = (processorMs[action] * timesSlower) / share + (storeCalls / invocations) * storeCallMs;
  return own + waiting[action] * receiverMs;
}

/** The share of an action's invocations that wait for a receiver. Of a test's three one does: the API and the retry lane hand it on. */
const waiting: Readonly<Record<Action, number>> = {
  login: 0,
  refresh: 0,
  quiet: 1,
  busy: 1,
  exhausted: 1,
  exhaustedEmpty: 1,
  registration: 0,
  test: 1 / 3,
  withoutWebhook: 0,
};

function mapCounts<Given extends SteadyCounts>(
  counts: Given,
  change: (value: number, name: keyof Counts) => number,
): Given {
  const entries = Object.entries(counts).map(([name, value]) => [name, change(value, name as keyof Counts)]);
  return Object.fromEntries(entries);
}
