import { type Command, Option } from 'commander';
import { keyKinds } from '../../lambdas/platform/keyring.ts';
import { iso, makeShape, type Report } from '../command-line/report.ts';
import type { Run } from '../command-line/run.ts';
import type { KeyView, Rotation } from './keys.ts';

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
    .action(run(actions, all => all.listKeys, listed));

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
    .addHelpText('after', examples)
    .action(run(actions, all => all.rotateKeys, reportRotation));
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
  return import('./keys.ts');
}

const key = makeShape<KeyView>([
  { json: 'kind', heading: 'kind', value: ({ kind }) => kind },
  { json: 'generation', heading: 'generation', value: ({ generation }) => generation },
  { json: 'keyId', heading: 'key id', value: ({ keyId }) => keyId },
  { json: 'state', value: ({ state }) => state },
  { json: 'algorithm', heading: 'algorithm', value: ({ algorithm }) => algorithm },
  { heading: 'state', value: ({ state }) => state },
  { json: 'createdAt', value: ({ createdAt }) => iso(createdAt) },
  { json: 'activeFrom', heading: 'active from', value: ({ activeFrom }) => iso(activeFrom) },
]);

const listed = key.list('No keys yet: the deployment makes them.');

function reportRotation({ rotated, isNow }: Rotation): Report {
  const kinds = rotated.map(({ kind, created, removed }) => {
    const made = created
      ? `key ${created.keyId} is ${created.state}, in use from ${iso(created.activeFrom)}`
      : 'no key was due';
    return `${kind}: ${made}${removed.length > 0 ? `; deleted generation ${removed.join(', ')}` : ''}.`;
  });
  const note = isNow ? '\n\nThe functions follow within 30 seconds.' : '';
  return {
    json: rotated.map(({ kind, created, removed }) => ({ kind, created: created && key.json(created), removed })),
    text: `${kinds.join('\n')}${note}`,
  };
}
