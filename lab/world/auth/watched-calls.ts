import { type Dynamo, isConditionFailed } from '../../../lambdas/platform/aws/dynamo.ts';
import type { KeyDerivation } from '../../../lambdas/platform/key-derivation.ts';
import { hashName, type Journal, type TokenRequest } from './journal.ts';
import type { TokenOutside } from './token-stage.ts';

/** Makes an outside of one process whose calls of DynamoDB, and hashes, are noted with the request that the process works on. */
export function watchCalls(runtime: TokenOutside, journal: Journal) {
  let current: TokenRequest | undefined;
  const dynamo: Dynamo = async (command, options) => {
    if (!current) return runtime.dynamo(command, options);
    const call = journal.beginCall(current, command);
    try {
      const output = await runtime.dynamo(command, options);
      Object.assign(call, { ending: 'answered', attempts: attemptsOf(output) });
      return output;
    } catch (error) {
      Object.assign(call, { ending: isConditionFailed(error) ? 'refused' : 'unanswered', attempts: attemptsOf(error) });
      throw error;
    }
  };
  const argon2: KeyDerivation['argon2'] = (...given) => {
    current?.calls.push({ name: hashName });
    return runtime.keyDerivation.argon2(...given);
  };
  return {
    runtime: { ...runtime, dynamo, keyDerivation: { ...runtime.keyDerivation, argon2 } },
    /** Further calls are of this request. What the process loads before its first one is of none. */
    begin: (request: TokenRequest) => {
      current = request;
    },
  };
}

function attemptsOf(result: unknown): number {
  const { attempts } = fieldsOf(fieldsOf(result).$metadata);
  return typeof attempts === 'number' ? attempts : 1;
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return { ...(typeof value === 'object' ? value : {}) };
}
