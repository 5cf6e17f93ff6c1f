import { type Dynamo, isConditionFailed } from '../../../lambdas/platform/aws/dynamo.ts';
import type { KeyDerivation } from '../../../lambdas/platform/key-derivation.ts';
import { hashName, type Journal, type TokenRequest } from './journal.ts';
import type { TokenRuntime } from './token-stage.ts';

/** Wraps the runtime of one process. Records DynamoDB calls and hashes in the process's current request. */
export function watchCalls(runtime: TokenRuntime, journal: Journal) {
  let current: TokenRequest | undefined;
  const dynamo: Dynamo = async (command, options) => {
    if (!current) return runtime.dynamo(command, options);
    const call = journal.addCall(current, command);
    try {
      const output = await runtime.dynamo(command, options);
      Object.assign(call, { outcome: 'succeeded', attempts: attemptsOf(output) });
      return output;
    } catch (error) {
      const outcome = isConditionFailed(error) ? 'condition_failed' : 'failed';
      Object.assign(call, { outcome, attempts: attemptsOf(error) });
      throw error;
    }
  };
  const argon2: KeyDerivation['argon2'] = (...args) => {
    current?.calls.push({ name: hashName });
    return runtime.keyDerivation.argon2(...args);
  };
  return {
    runtime: { ...runtime, dynamo, keyDerivation: { ...runtime.keyDerivation, argon2 } },
    /** Assigns subsequent calls to this request. Calls before the first request are not recorded. */
    startRequest: (request: TokenRequest) => {
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
