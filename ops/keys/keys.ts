import type { RotationResult } from '../../lambdas/auth/keys/key-rotation.ts';
import { keyState } from '../../lambdas/auth/keys/rotation-plan.ts';
import { type KeyKind, type KeyringKey, keyKinds } from '../../lambdas/platform/keyring.ts';
import { reads, writes } from '../audit/audit.ts';
import { CliError, type Confirm } from '../stage/operator.ts';
import { openKeyring, openRotation } from '../stage/stores.ts';
import type { Target, Task } from '../stage/target.ts';

/** The operators' actions on keys. */
export const actions = {
  listKeys: reads(listKeys),
  rotateKeys: writes('keys rotate', rotateKeys, {
    before: (_task, { kind = 'all kinds' }) => ({ all: kind }),
    change: ({ now, revoke }) => ({ now, revoke }),
  }),
};

/** The options of a key rotation: by default it rotates what is due, with `now` it rotates at once. */
export interface RotateOptions {
  /** All kinds unless it is given. */
  readonly kind?: KeyKind;
  readonly now?: boolean;
  /** Also delete the earlier keys. */
  readonly revoke?: boolean;
}

/** The visible facts of a key: no key material. */
export type KeyView = ReturnType<typeof viewKey>;

/** The outcome of a rotation, and whether it was at once. */
export interface Rotation {
  readonly rotated: readonly Rotated[];
  readonly isNow: boolean;
}

/** The outcome of a rotation for the keys of one kind. */
interface Rotated {
  readonly kind: KeyKind;
  readonly created: KeyView | null;
  readonly removed: readonly number[];
}

async function listKeys({ target }: Task, { kind }: { readonly kind?: KeyKind }): Promise<readonly KeyView[]> {
  return readKeys(target, kind ? [kind] : keyKinds);
}

/** @throws {CliError} where keys cannot be rotated at once, or nobody confirmed. */
async function rotateKeys({ target, confirm }: Task, options: RotateOptions): Promise<Rotation> {
  const kinds = options.kind ? [options.kind] : keyKinds;
  const results =
    options.now === true
      ? await rotateAtOnce(target, kinds, options.revoke === true, confirm)
      : await openRotation(target).rotateKeys(kinds);
  const keys = await readKeys(target, kinds);
  const rotated = results.map(({ kind, created, removed }) => ({
    kind,
    created: keys.find(key => key.kind === kind && key.generation === created) ?? null,
    removed,
  }));
  return { rotated, isNow: options.now === true };
}

/** @throws {CliError} for sealing keys that were to be revoked, where nobody confirmed, or another rotation was quicker. */
async function rotateAtOnce(
  target: Target,
  kinds: readonly KeyKind[],
  revoke: boolean,
  confirm: Confirm,
): Promise<readonly RotationResult[]> {
  const ends = kinds.flatMap(kind => endedBy[kind] ?? []);
  if (revoke && ends.length === 0) {
    throw new CliError('sealing keys are never revoked: every stored autorizacao and signing secret would be lost.');
  }
  if (revoke) await confirm(`This ends ${ends.join(' and ')} of ${target.label}.`);
  const rotation = openRotation(target);
  const results: RotationResult[] = [];
  for (const kind of kinds) {
    const result = await rotation.rotateNow(kind, { revoke: revoke && kind in endedBy });
    if (result.created === undefined) throw new CliError(`another rotation of ${kind} keys was quicker: try again.`);
    results.push(result);
  }
  return results;
}

async function readKeys(target: Target, kinds: readonly KeyKind[]): Promise<KeyView[]> {
  const keyring = openKeyring(target);
  const rings = await Promise.all(kinds.map(kind => keyring.list(kind)));
  const now = target.clock.now();
  return rings.flatMap(keys => keys.map(key => viewKey(key, keys, now)));
}

function viewKey(key: KeyringKey, keys: readonly KeyringKey[], now: number) {
  const { kind, generation, keyId, algorithm, createdAt, activeFrom } = key;
  return { kind, generation, keyId, algorithm, createdAt, activeFrom, state: keyState(key, keys, now) };
}

/** The tokens that end when the keys of a kind are deleted. Sealing keys are missing: stored secrets would be lost without them. */
const endedBy: Partial<Record<KeyKind, string>> = { signing: 'every access token', mac: 'every refresh token' };
