import * as z from 'zod';
import { RevocationError, type RotationResult } from '../../lambdas/auth/keys/key-rotation.ts';
import { keyState } from '../../lambdas/auth/keys/rotation-plan.ts';
import { type KeyKind, keyKinds } from '../../lambdas/platform/keyring.ts';
import type { AuditedTask } from '../audit/audit.ts';
import { command, type Noun } from '../audit/command.ts';
import { flag, option } from '../command-line/arg-spec.ts';
import { iso, makeFormatter } from '../command-line/report.ts';
import { CliError, describeError, opsOf } from '../stage/operator.ts';
import { openKeyRotation, openKeyring } from '../stage/stores.ts';
import { requireOutput, type Target } from '../stage/target.ts';

const examples = `
Signing keys sign access tokens. MAC keys authenticate refresh tokens. Encryption keys encrypt the secrets of webhooks. A
daily job rotates the keys that are due.

Examples:
  npm run ops -- keys list
  npm run ops -- keys rotate --now --kind signing
  npm run ops -- --stage prod keys rotate --revoke --kind signing`;

const kind = option('<kind>', 'only keys of this kind (default: all kinds)', z.enum(keyKinds));

const key = makeFormatter<KeyView>([
  { json: 'kind', heading: 'kind' },
  { json: 'generation', heading: 'generation' },
  { json: 'keyId', heading: 'key id' },
  { json: 'state' },
  { json: 'algorithm', heading: 'algorithm' },
  { heading: 'state', value: ({ state }) => state },
  { json: 'createdAt', value: ({ createdAt }) => iso(createdAt) },
  { json: 'activeFrom', heading: 'active from', value: ({ activeFrom }) => iso(activeFrom) },
]);

const list = command('keys list', {
  description: 'list all keys, with their states (next, active or retiring)',
  args: { kind },
  effect: 'reads',
  act: ({ target }, { kind }) => readKeys(target, kind ? [kind] : keyKinds),
  report: key.list('No keys yet. The deployment creates them.'),
});

export const rotateKeys = command('keys rotate', {
  description: 'create the keys that are due and delete expired keys, as the service does every day',
  notes: examples,
  args: {
    now: flag('create a key and use it immediately; earlier keys retire and stay valid'),
    revoke: flag('like --now, and also invalidate access tokens (signing) or end sessions (mac)', {
      now: true,
    }),
    kind,
  },
  effect: 'writes',
  validate: ({ now, kind }) =>
    kind !== undefined && !now && '--kind requires --now. By default, all kinds are rotated.',
  act: async (task, { now, revoke = false, kind }) => {
    const { target } = task;
    const kinds = kind ? [kind] : keyKinds;
    const results = await (now ? rotateAtOnce(task, kinds, revoke) : runDailyRotation(target));
    recordRotated(task, results);
    if (now && target.deployed) {
      await runDailyRotation(target).catch(error =>
        task.warn(`the keys were created, but ${describeError(error, target.unreachable)}`),
      );
    }
    const keys = await readKeys(target, kinds).catch(error => {
      throw incomplete(task, { error, results, left: [], revoke });
    });
    return results.map(({ kind, created, removed }) => ({
      kind,
      generation: created,
      created: keys.find(found => found.kind === kind && found.generation === created),
      removed,
    }));
  },
  subject: (_task, { kind = 'all kinds' }) => ({ all: kind }),
  change: ({ now, revoke }) => ({ now, revoke }),
  report: (rotated, { now }) => {
    const kinds = rotated.map(({ kind, generation, created, removed }) => {
      const noKey =
        generation === undefined ? 'no key was due' : `created generation ${generation}, which has been deleted since`;
      const result = created
        ? `key ${created.keyId} is ${created.state}, in use from ${iso(created.activeFrom)}`
        : noKey;
      return `${kind}: ${result}${removed.length > 0 ? `; deleted generation ${removed.join(', ')}` : ''}.`;
    });
    const note = now ? '\n\nAll functions use the new keys within 30 seconds.' : '';
    return {
      json: rotated.map(({ kind, created, removed }) => ({
        kind,
        created: created ? key.json(created) : null,
        removed,
      })),
      text: `${kinds.join('\n')}${note}`,
    };
  },
});

export const keys: Noun = {
  name: 'keys',
  description: 'keys that sign tokens, authenticate tokens and encrypt secrets: list, rotate',
  notes: examples,
  commands: [list, rotateKeys],
};

/** The visible properties of a key, without key material. */
type KeyView = Awaited<ReturnType<typeof readKeys>>[number];

async function readKeys(target: Target, kinds: readonly KeyKind[]) {
  const keyring = openKeyring(target);
  const rings = await Promise.all(kinds.map(kind => keyring.list(kind)));
  const now = target.clock.now();
  return rings.flatMap(ring =>
    ring.map(found => {
      const { kind, generation, keyId, algorithm, createdAt, activeFrom } = found;
      return { kind, generation, keyId, algorithm, createdAt, activeFrom, state: keyState(found, ring, now) };
    }),
  );
}

/** Rotates keys immediately. @throws {CliError} if a step fails, the operator does not confirm, or only encryption keys are revoked. */
async function rotateAtOnce(
  task: AuditedTask,
  kinds: readonly KeyKind[],
  revoke: boolean,
): Promise<readonly RotationResult[]> {
  const { target, confirm } = task;
  const invalidated = kinds.flatMap(kind => revocableTokens[kind] ?? []);
  if (revoke && invalidated.length === 0) {
    throw new CliError('Encryption keys cannot be revoked, because all autorizacao values and secrets would be lost.');
  }
  if (revoke) await confirm(`This permanently invalidates ${invalidated.join(' and ')} of ${target.label}.`);
  const rotation = openKeyRotation(target);
  const results: RotationResult[] = [];
  for (const [at, kind] of kinds.entries()) {
    try {
      const result = await rotation.rotateNow(kind, { revoke: revoke && kind in revocableTokens });
      if (result.created === undefined) throw new CliError(`another rotation of ${kind} keys ran at the same time.`);
      results.push(result);
      recordRotated(task, results);
    } catch (error) {
      if (error instanceof RevocationError) results.push(error.result);
      recordRotated(task, results);
      throw incomplete(task, { error, results, left: kinds.slice(at), revoke });
    }
  }
  return results;
}

/** Returns the error for an incomplete rotation, with the completed steps, the remaining steps and their commands. */
function incomplete({ target }: Pick<AuditedTask, 'target'>, { error, results, left, revoke }: Incomplete): CliError {
  const undeleted = error instanceof RevocationError ? error : undefined;
  const leftOf = (kind: KeyKind) =>
    kind === undeleted?.result.kind
      ? undeleted.remaining.map(generation => `${kind} generation ${generation} is still valid`)
      : [`${kind} is not rotated, and its keys are still valid`];
  const ops = opsOf(target.deployed?.configuration.stage ?? null);
  const commandOf = (kind: KeyKind) =>
    `"${ops} keys rotate ${revoke && kind in revocableTokens ? '--revoke' : '--now'} --kind ${kind}"`;
  const next = left.length === 0 ? `"${ops} keys list" shows the keys` : `Run ${left.map(commandOf).join(' and ')}`;
  const why = describeError(undeleted?.cause ?? error, target.unreachable);
  return new CliError(
    `The rotation is incomplete. Done: ${results.map(textOf).join('; ') || 'nothing'}. ` +
      `Left: ${left.flatMap(leftOf).join('; ') || 'nothing'}. ${next}. Cause: ${why}`,
    { done: results, left },
  );
}

interface Incomplete {
  readonly error: unknown;
  readonly results: readonly RotationResult[];
  /** The kinds that were not rotated, or only in part. */
  readonly left: readonly KeyKind[];
  readonly revoke: boolean;
}

function recordRotated({ recordResult }: Pick<AuditedTask, 'recordResult'>, results: readonly RotationResult[]): void {
  recordResult({ keys: results.map(textOf) });
}

function textOf({ kind, created, removed }: RotationResult): string {
  return `${kind} created ${created ?? 'none'}, deleted ${removed.join(' ') || 'none'}`;
}

/**
 * Runs the daily rotation in the stage's function. The call tests the role and the code of the function, and clears
 * the `KeysNotRotated` alarm, which monitors only this function.
 * @throws {CliError} with the error from the function.
 */
async function runDailyRotation(target: Target): Promise<readonly RotationResult[]> {
  if (!target.deployed) return openKeyRotation(target).rotateKeys();
  const { InvokeCommand, LambdaClient } = await import('@aws-sdk/client-lambda');
  const invocation = new InvokeCommand({ FunctionName: requireOutput(target, 'RotateKeysFunction') });
  const { FunctionError, Payload } = await target.connect(LambdaClient).send(invocation);
  const response: unknown = JSON.parse(Buffer.from(Payload ?? []).toString());
  if (FunctionError === undefined) return payload.parse(response);
  const { errorType, errorMessage } = errorSchema.parse(response);
  throw new CliError(`the daily rotation failed: ${errorType}: ${errorMessage} (docs/runbook.md, "KeysNotRotated").`);
}

const payload = z.array(z.object({ kind: z.enum(keyKinds), created: z.int().optional(), removed: z.array(z.int()) }));
const errorSchema = z.object({ errorType: z.string().default('error'), errorMessage: z.string().default('') });

/** The tokens that become invalid if keys of a kind are revoked. Encryption keys cannot be revoked. */
const revocableTokens: Partial<Record<KeyKind, string>> = { signing: 'every access token', mac: 'every refresh token' };
