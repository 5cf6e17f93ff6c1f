import { readFileSync, statSync, unwatchFile, watchFile } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import * as z from 'zod';
import { LocalFault, messageOf } from './fault.ts';
import { accessKeyIdIn } from './iam/gate.ts';

/** What can go wrong. */
export type FaultKind = keyof z.output<typeof faultsSchema>;

const range = 'must be a number from 0 to 1';
const share = z.number(range).min(0, range).max(1, range).default(0);

/** The faults file: which share of what goes wrong, from 0 (the default) to 1. */
const faultsSchema = z.strictObject({
  /** Functions' requests to tables that are throttled. */
  throttledReadsAndWrites: share,
  /** Functions' messages that a queue does not take. */
  refusedSends: share,
  /** Functions' requests to KMS that are throttled. */
  throttledKeyUses: share,
  /** Functions' requests to KMS that it answers with a fault of its own (5xx). */
  failedKeyUses: share,
  /** Functions' notifications that a topic answers with a fault of its own (5xx). */
  failedNotifications: share,
  /** Batches that are handed to their function a second time, while the first is under way or after it. */
  repeatedBatches: share,
});

/** All of it. */
export const faultKinds: readonly FaultKind[] = faultsSchema.keyof().options;

/**
 * Faults that a local run is told to have, to see what the service makes of them. They befall what functions ask of the
 * stand-ins, from outside: the bundles know nothing of it, and neither the run itself nor the operator is met by any.
 */
export interface Faults {
  /** Whether this is one that goes wrong; whoever asks must then let it. */
  strikes(kind: FaultKind): boolean;
  /** The same for a request, which must be a function's. */
  strikesRequest(kind: FaultKind, headers: IncomingHttpHeaders): boolean;
}

/**
 * Tells what became of each change of a faults file: what is wrong with it, or nothing.
 *
 * @returns what ends it.
 */
export function watchFaults(file: string, onChange: (fault: string | undefined) => void): () => void {
  const look = (): void => {
    try {
      readFaults(file);
      onChange(undefined);
    } catch (error) {
      onChange(messageOf(error));
    }
  };
  watchFile(file, { interval: 500 }, look);
  return () => unwatchFile(file, look);
}

/** None, unless a file says otherwise. */
export const noFaults: Faults = { strikes: () => false, strikesRequest: () => false };

/**
 * Takes the faults from a file, which is looked at on every question; what is malformed, for instance because it is
 * being written, leaves the last good one in force.
 *
 * @param onStrike - hears of each fault.
 * @throws {LocalFault} when the file cannot be used at the start.
 */
export function faultsOf(file: string, random: () => number, onStrike: (kind: FaultKind) => void): Faults {
  let seen = '';
  let shares: z.output<typeof faultsSchema>;
  try {
    shares = readFaults(file);
  } catch (error) {
    throw new LocalFault(`The faults file ${file} cannot be used: ${messageOf(error)}`);
  }
  const current = () => {
    const status = statSync(file, { bigint: true, throwIfNoEntry: false });
    const version = status ? `${status.ino}:${status.size}:${status.mtimeNs}` : seen;
    if (version === seen) return shares;
    seen = version;
    try {
      shares = readFaults(file);
    } catch {
      seen = ''; // to be looked at again
    }
    return shares;
  };
  const strikes = (kind: FaultKind): boolean => {
    if (random() >= current()[kind]) return false;
    onStrike(kind);
    return true;
  };
  return {
    strikes,
    strikesRequest: (kind, headers) => accessKeyIdIn(headers) !== nobodysKey && strikes(kind),
  };
}

/** @throws {TypeError | NodeJS.ErrnoException} with one sentence that says what is wrong. */
function readFaults(file: string): z.output<typeof faultsSchema> {
  let content: unknown;
  const text = readFileSync(file, 'utf8');
  try {
    content = JSON.parse(text);
  } catch {
    throw new TypeError('It is not JSON.');
  }
  const { success, data, error } = faultsSchema.safeParse(content);
  if (success) return data;
  const [issue] = error.issues;
  if (issue?.code === 'unrecognized_keys') {
    const names = faultKinds.join(', ');
    throw new TypeError(`It names "${issue.keys[0]}", which is none of ${names}.`);
  }
  if (!issue?.path.length) throw new TypeError('It must be one JSON object of shares.');
  throw new TypeError(`"${issue.path.join('.')}" ${issue.message}.`);
}

/** The access key id of everybody who is no function. */
const nobodysKey = 'local';
