import { type Command, Option } from 'commander';
import type { RotationResult } from '../../lambdas/auth/keys/key-rotation.ts';
import { keyState } from '../../lambdas/auth/keys/rotation-plan.ts';
import { type KeyKind, type Keyring, type KeyringKey, keyKinds } from '../../lambdas/platform/keyring.ts';
import { CliError } from './cli-error.ts';
import { iso, type Report, table } from './report.ts';
import type { Run } from './run.ts';
import type { Target } from './target.ts';
import { confirm, yesOption } from './terminal.ts';

/** Adds `keys`. */
export function addKeys(program: Command, run: Run): void {
  const keys = program
    .command('keys')
    .description('keys that sign, authenticate and seal: list, rotate')
    .addHelpText('after', examples);

  keys
    .command('list')
    .description('list all keys: next, active, retiring')
    .addOption(kindOption())
    .action(({ kind }: { kind?: KeyKind }, command: Command) =>
      run(command, target => list(target, kind ? [kind] : keyKinds)),
    );

  keys
    .command('rotate')
    .description('make the keys that are due and delete those past their time, as the service does every day')
    .option('--now', 'make a key that is in use at once; the earlier ones retire, and stay good')
    .addOption(
      new Option(
        '--revoke',
        'as --now, and delete the earlier keys: access tokens end (signing), or all log in again (mac)',
      ).implies({
        now: true,
      }),
    )
    .addOption(kindOption())
    .addOption(yesOption())
    .addHelpText('after', examples)
    .action((options: RotateOptions, command: Command) => run(command, target => rotate(target, options)));
}

const examples = `
Access tokens are signed with signing keys, refresh tokens authenticated with MAC keys; sealing keys encrypt what webhooks
keep secret. The service rotates all of them by itself.

Examples:
  npm run ops -- keys list
  npm run ops -- keys rotate --now --kind signing
  npm run ops -- --stage prod keys rotate --revoke --kind signing`;

function kindOption() {
  return new Option('--kind <kind>', 'keys of this kind only (default: all kinds)').choices(keyKinds);
}

async function list(target: Target, kinds: readonly KeyKind[]): Promise<Report> {
  const { openKeyring } = await import('./keyring.ts');
  const keys = await readKeys(openKeyring(target), kinds);
  const columns = [
    { heading: 'KIND', cell: (key: KeyView) => key.kind },
    { heading: 'GENERATION', cell: (key: KeyView) => String(key.generation) },
    { heading: 'KEY ID', cell: (key: KeyView) => key.keyId },
    { heading: 'ALGORITHM', cell: (key: KeyView) => key.algorithm ?? '-' },
    { heading: 'STATE', cell: (key: KeyView) => key.state },
    { heading: 'ACTIVE FROM', cell: (key: KeyView) => key.activeFrom ?? '-' },
  ];
  return { json: keys, text: table(keys, columns, 'No keys yet: the deployment makes them.') };
}

interface RotateOptions {
  readonly kind?: KeyKind;
  readonly now?: boolean;
  readonly revoke?: boolean;
  readonly yes?: boolean;
}

async function rotate(target: Target, options: RotateOptions): Promise<Report> {
  const kinds = options.kind ? [options.kind] : keyKinds;
  const { openKeyring, openRotation } = await import('./keyring.ts');
  const results =
    options.now === true ? await rotateAtOnce(target, kinds, options) : await openRotation(target).rotateKeys(kinds);
  const keys = await readKeys(openKeyring(target), kinds);
  const rotated = results.map(({ kind, created, removed }) => ({
    kind,
    created: keys.find(key => key.kind === kind && key.generation === created) ?? null,
    removed,
  }));
  const lines = rotated.map(({ kind, created, removed }) => {
    const made = created
      ? `key ${created.keyId} is ${created.state}, in use from ${created.activeFrom}`
      : 'no key was due';
    return `${kind}: ${made}${removed.length > 0 ? `; deleted generation ${removed.join(', ')}` : ''}.`;
  });
  const note = options.now === true ? '\n\nThe functions follow within 30 seconds.' : '';
  return { json: rotated, text: `${lines.join('\n')}${note}` };
}

async function readKeys(keyring: Pick<Keyring, 'list'>, kinds: readonly KeyKind[]): Promise<KeyView[]> {
  const rings = await Promise.all(kinds.map(kind => keyring.list(kind)));
  return rings.flatMap(keys => keys.map(key => view(key, keys)));
}

type KeyView = ReturnType<typeof view>;

/** What is shown of a key: nothing of the key itself. */
function view(key: KeyringKey, keys: readonly KeyringKey[]) {
  return {
    kind: key.kind,
    generation: key.generation,
    keyId: key.keyId,
    state: keyState(key, keys, Date.now()),
    algorithm: key.algorithm ?? null,
    createdAt: iso(key.createdAt),
    activeFrom: iso(key.activeFrom),
  };
}

async function rotateAtOnce(
  target: Target,
  kinds: readonly KeyKind[],
  { revoke = false, yes = false }: RotateOptions,
): Promise<readonly RotationResult[]> {
  const ends = kinds.flatMap(kind => endedBy[kind] ?? []);
  if (revoke && ends.length === 0) {
    throw new CliError('sealing keys are never revoked: every stored autorizacao and signing secret would be lost.');
  }
  if (revoke) await confirm(`This ends ${ends.join(' and ')} of ${target.label}.`, yes);
  const { openRotation } = await import('./keyring.ts');
  const rotation = openRotation(target);
  const results: RotationResult[] = [];
  for (const kind of kinds) {
    const result = await rotation.rotateNow(kind, { revoke: revoke && kind in endedBy });
    if (result.created === undefined) throw new CliError(`another rotation of ${kind} keys was quicker: try again.`);
    results.push(result);
  }
  return results;
}

/** What deleting the keys of a kind ends. What sealing keys sealed is kept, and would be lost. */
const endedBy: Partial<Record<KeyKind, string>> = { signing: 'every access token', mac: 'every refresh token' };
