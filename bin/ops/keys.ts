import { type Command, Option } from 'commander';
import { type KeyKind, keyKinds } from '../../lambdas/platform/keyring.ts';
import type { KeyView, Rotated, RotateOptions } from './key-actions.ts';
import { type Report, table } from './report.ts';
import type { Run } from './run.ts';
import { yesOption } from './terminal.ts';

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
      run(command, async target => (await actions()).listKeys(target, kind ? [kind] : keyKinds), reportKeys),
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
    .action((options: RotateOptions, command: Command) =>
      run(
        command,
        async target => (await actions()).rotateKeys(target, options),
        rotated => reportRotation(rotated, options.now === true),
      ),
    );
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

function actions() {
  return import('./key-actions.ts');
}

function reportKeys(keys: readonly KeyView[]): Report {
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

function reportRotation(rotated: readonly Rotated[], isNow: boolean): Report {
  const lines = rotated.map(({ kind, created, removed }) => {
    const made = created
      ? `key ${created.keyId} is ${created.state}, in use from ${created.activeFrom}`
      : 'no key was due';
    return `${kind}: ${made}${removed.length > 0 ? `; deleted generation ${removed.join(', ')}` : ''}.`;
  });
  const note = isNow ? '\n\nThe functions follow within 30 seconds.' : '';
  return { json: rotated, text: `${lines.join('\n')}${note}` };
}
