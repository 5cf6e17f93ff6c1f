import * as z from 'zod';
import { errorOf, makeFaults, type QueueFaults } from '../faults.ts';
import { makeSeededRandom } from '../seeded-random.ts';
import type { Interceptor } from './emulator.ts';
import { followFile, parseObject, readAtStart } from './followed-file.ts';

const range = 'must be a number from 0 to 1';
const share = z.number(range).min(0, range).max(1, range).default(0);
const services = ['dynamodb', 'sqs', 'kms', 'sns'];
const callFaults = ['throttled', 'failed'].flatMap(kind => [kind, ...services.map(service => `${service}.${kind}`)]);

/** The valid names in a faults file. Their values are shares from 0 (the default) to 1. README.md describes them. */
export const faultNames: readonly string[] = [...callFaults, 'refusedEntries', 'copies'];

const faultsSchema = z.strictObject(Object.fromEntries(faultNames.map(name => [name, share])));

/**
 * Creates the faults that a file defines. Later changes to the file take effect immediately.
 *
 * @param onFault - receives the name of each injected fault
 * @throws {StartError} if the file is missing or malformed
 */
export function readFaults(file: string, seed: number, onFault: (fault: string) => void) {
  const current = followFile(file, parseShares, readAtStart('faults', file, parseShares));
  const plan = {
    get shares() {
      return current();
    },
    get refusedEntries() {
      return current().refusedEntries ?? 0;
    },
    get copies() {
      return current().copies ?? 0;
    },
  };
  const faults = makeFaults(plan, Date.now, name => makeSeededRandom(seed, name));
  const report = (fault: string, happens: boolean) => {
    if (happens) onFault(fault);
    return happens;
  };
  const queueFaults: QueueFaults = {
    isRedelivered: () => report('copies', faults.isRedelivered()),
    isEntryRejected: () => report('refusedEntries', faults.isEntryRejected()),
  };
  /** Injects faults into requests from functions. Requests from the run itself and from operators' programs are exempt. */
  const interceptor: Interceptor = ({ service, operation, caller: functionName }) => {
    if (functionName === 'local') return undefined;
    const outcome = faults.outcomeOf({ functionName, service, operation, resource: '' });
    report(`${service}.${outcome}`, outcome !== 'fine');
    return errorOf(outcome, service);
  };
  return { queueFaults, interceptor };
}

/** Parses the text of a faults file. @throws {TypeError} if the text is invalid. The message is one sentence */
export function parseShares(text: string): Readonly<Record<string, number>> {
  const { data, error } = faultsSchema.safeParse(parseObject(text));
  if (data) return data;
  const [issue] = error.issues;
  if (issue?.code === 'unrecognized_keys') {
    throw new TypeError(`It contains "${issue.keys[0]}", which is not one of ${faultNames.join(', ')}.`);
  }
  throw new TypeError(`"${issue?.path.join('.')}" ${issue?.message}.`);
}
