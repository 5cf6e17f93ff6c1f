import { GetAliasCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { expect } from 'vitest';
import { makeDrill, succeeded } from './drill.ts';
import { trialValues } from './end-to-end.ts';

// An operator rolls back and deploys a fix (contract, section 7). MiniStack has no CodeDeploy (docs/first-day.md).

const drill = makeDrill({ dev: trialValues });
const { step, emulator, copy, deploy, assemblyOf, stacksOf, statesOf, preflight, ops, cacheControl } = drill;
const [good, bad, fixed] = ['public, max-age=300', 'public, max-age=1', 'public, max-age=299'];
const change = (cacheControl: string) =>
  copy().edit('lambdas/auth/endpoints/discovery.ts', `'${good}'`, `'${cacheControl}'`);

interface ReleaseList {
  readonly releases: readonly { readonly release: string; readonly running: number }[];
  readonly functions: readonly { readonly function: string; readonly version: number; readonly release: string }[];
}
const list = () => ops<ReleaseList>('dev', ['rollback']);
const rollBackTo = (release: string) =>
  ops<{ moved: { function: string }[]; next: string }>('dev', ['rollback', release, '--yes']);
/** The good release, and the command for the next deployment. */
const state = { release: '', next: '' };

step('dev: deploy', async () => {
  succeeded(await deploy('dev'));
  const { releases, functions } = await list();
  expect(releases).toHaveLength(1);
  state.release = releases[0]?.release ?? '';
  expect(new Set(functions.map(({ release }) => release))).toEqual(new Set([state.release]));
  return summary();
});

step('dev: a failed update keeps the aliases of its stack, and rollback restores the other stacks', async () => {
  const undo = [
    change(bad),
    copy().edit('lib/auth-stack.ts', "'FirstKeys'", "'OtherKeys'"), // runs a new trigger
    copy().edit(
      'lambdas/auth/keys/rotate-keys.composition.ts',
      '    await requireEnabledKey();',
      "    throw new Error('broken');",
    ),
  ];
  const { code, output } = await deploy('dev');
  for (const undoChange of undo) undoChange();
  expect(code, output).not.toBe(0);
  expect((await statesOf('dev')).get('Emissor-dev-Auth'), output).toBe('UPDATE_ROLLBACK_COMPLETE');
  expect(await cacheControl('dev')).toBe(good);
  const [{ functions }, failed] = [await list(), await summary()];
  expect(functions.find(({ function: name }) => name === 'Token')?.release).toBe(state.release);
  await rollBackTo(state.release); // because the CDK had already deployed the new version to other stacks
  expect(new Set((await list()).functions.map(({ release }) => release))).toEqual(new Set([state.release]));
  return `${failed}; then ${await summary()}`;
});

step('dev: a bad version is deployed', async () => {
  const undo = change(bad);
  succeeded(await deploy('dev'));
  undo();
  expect(await cacheControl('dev')).toBe(bad);
  const releases = new Set((await list()).functions.map(({ release }) => release));
  expect([releases.size, releases.has(state.release)]).toEqual([1, false]);
  return summary();
});

step('dev: rollback points all functions to the previous release', async () => {
  expect((await copy().program('ops', ['--stage', 'dev', 'rollback', state.release])).output).toContain('Add --yes');
  expect(await cacheControl('dev')).toBe(bad);
  const { moved, next } = await rollBackTo(state.release);
  const { functions } = await list();
  expect(moved).toHaveLength(functions.length);
  expect(new Set(functions.map(({ release }) => release))).toEqual(new Set([state.release]));
  expect(await cacheControl('dev')).toBe(good);
  state.next = next;
  expect(next).toMatch(/^npx cdk deploy --all -c stage=dev -c gradual=false -c release=\d+$/);
  expect((await copy().program('ops', ['--stage', 'dev', 'status'])).output).toContain(next);
  expect((await preflight('dev')).problems.get('aliases')).toContain(next);
  const [line] = await ops<{ command: string; outcome: string }[]>('dev', ['audit', 'list', '--limit', '2']);
  expect(line).toMatchObject({ command: 'rollback', outcome: 'done' });
  return summary();
});

step('dev: the printed command deploys the fix to all functions', async () => {
  const undo = change(fixed);
  const before = await liveVersions();
  succeeded(await deploy('dev', ...state.next.split(' ').slice(6)));
  undo();
  expect(await cacheControl('dev')).toBe(fixed);
  const after = await liveVersions();
  for (const [name, version] of after) expect([name, version > (before.get(name) ?? 0)]).toEqual([name, true]);
  const number = state.next.split('=').at(-1);
  expect((await list()).functions.filter(({ release }) => !release.endsWith(`-n${number}`))).toEqual([]);
  expect((await preflight('dev')).problems.has('aliases')).toBe(false);
  return summary();
});

step('dev: destroy', async () => {
  succeeded(await copy().cdk('destroy', '--all', '--force', '--app', assemblyOf('dev')));
  expect([...(await emulator().inventory.stacks()).keys()]).toEqual(['CDKToolkit']);
  return undefined;
});

/** Returns a summary of the releases and the number of functions that run each release. */
async function summary(): Promise<string> {
  const { functions } = await list();
  const groups = Map.groupBy(functions, ({ release, version }) => `${release} (version ${version})`);
  return [...groups].map(([release, running]) => `${running.length} functions run ${release}`).join(', ');
}

/** Returns the versions that the aliases of `dev` point to, by function. */
async function liveVersions(): Promise<ReadonlyMap<string, number>> {
  const lambda = new LambdaClient(emulator().settings);
  const resources = await Promise.all(stacksOf('dev').map(emulator().inventory.resources));
  const aliases = resources.flat().flatMap(({ ResourceType, LogicalResourceId = '', PhysicalResourceId = '' }) => {
    const [, name] = /^(\w+)Live[0-9A-F]{8}$/.exec(LogicalResourceId) ?? [];
    return ResourceType === 'AWS::Lambda::Alias' && name
      ? [{ name, FunctionName: PhysicalResourceId.split(':').at(-2) }]
      : [];
  });
  expect(aliases.length).toBeGreaterThan(8);
  return new Map(
    await Promise.all(
      aliases.map(async ({ name, FunctionName }) => {
        const { FunctionVersion } = await lambda.send(new GetAliasCommand({ FunctionName, Name: 'live' }));
        return [name, Number(FunctionVersion)] as const;
      }),
    ),
  );
}
