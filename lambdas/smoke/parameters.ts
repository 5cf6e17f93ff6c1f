import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { clientSettings } from '../platform/client-settings.ts';
import type { Clock } from '../platform/clock.ts';
import { describeError, type Log } from '../platform/telemetry.ts';

/** Reads a SecureString parameter of Parameter Store. `undefined` where it does not exist. */
export type ReadParameter = (name: string) => Promise<string | undefined>;

/** Makes the reader of parameters. */
export function makeReadParameter(ssm: Pick<SSMClient, 'send'> = new SSMClient(clientSettings)): ReadParameter {
  return async function readParameter(name) {
    try {
      const answer = await ssm.send(new GetParameterCommand({ Name: name, WithDecryption: true }));
      return answer.Parameter?.Value;
    } catch (error) {
      if (error instanceof Error && error.name === 'ParameterNotFound') return undefined;
      throw error;
    }
  };
}

/**
 * Makes the reader of one secret that is asked for often: it keeps the secret for a minute. Where there is none it says so in
 * the log, and looks again after ten seconds, so that requests of strangers cause neither calls nor lines without end.
 */
export function makeReadSecret({
  readParameter,
  name,
  log,
  now,
}: {
  readonly readParameter: ReadParameter;
  readonly name: string;
  readonly log: Pick<Log, 'error'>;
  readonly now: Clock;
}): () => Promise<string | undefined> {
  let kept: { readonly secret: Promise<string | undefined>; readonly until: number } | undefined;

  return async function readSecret() {
    if (kept && now() < kept.until) return kept.secret;
    const secret = read();
    kept = { secret, until: now() + keptMs };
    if ((await secret) === undefined) kept = { secret, until: now() + missingMs };
    return secret;
  };

  async function read(): Promise<string | undefined> {
    try {
      const secret = await readParameter(name);
      if (secret === undefined) log.error('smoke.secret_missing', { parameter: name });
      return secret;
    } catch (error) {
      log.error('smoke.secret_not_read', { parameter: name, ...describeError(error) });
      return undefined;
    }
  }
}

const keptMs = 60_000;
const missingMs = 10_000;
