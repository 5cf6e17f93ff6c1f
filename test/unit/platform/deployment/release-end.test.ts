import {
  type AliasConfiguration,
  DeleteFunctionCommand,
  ListAliasesCommand,
  ListVersionsByFunctionCommand,
} from '@aws-sdk/client-lambda';
import { expect, it } from 'vitest';
import { makeEndRelease, type ReleaseEndRequest } from '../../../../lambdas/platform/deployment/release-end.ts';

const arn = 'arn:aws:lambda:sa-east-1:111122223333:function:token';
const request = (RequestType: ReleaseEndRequest['RequestType'] = 'Update'): ReleaseEndRequest => ({
  RequestType,
  StackId: 'the stack',
  ResourceProperties: { Release: 'r2', Versions: [`${arn}:7`] },
});

/** Time that passes while somebody waits, and not otherwise. */
function waiting() {
  let moment = 0;
  const pause = async (milliseconds: number) => {
    moment += milliseconds;
  };
  return { pause, now: () => moment };
}

/** A function whose versions and aliases come in pages of two and one. */
function cleanerOf({
  status = 'UPDATE_IN_PROGRESS',
  release = '',
  versions = [7, 6, 5, 4, 3],
  aliases = [{ FunctionVersion: '7' }] as readonly AliasConfiguration[],
  fails = false,
}) {
  const deleted: string[] = [];
  const warnings: string[] = [];
  const all = ['$LATEST', ...versions.toReversed().map(String)].map(Version => ({ Version }));
  const page = <Item>(items: readonly Item[], size: number, Marker = '0') => {
    const end = Number(Marker) + size;
    return { items: items.slice(Number(Marker), end), NextMarker: end < items.length ? String(end) : undefined };
  };
  const send = async (command: object) => {
    if (command instanceof ListVersionsByFunctionCommand) {
      const { items: Versions, NextMarker } = page(all, 2, command.input.Marker);
      return { Versions, NextMarker };
    }
    if (command instanceof ListAliasesCommand) {
      const { items: Aliases, NextMarker } = page(aliases, 1, command.input.Marker);
      return { Aliases, NextMarker };
    }
    if (!(command instanceof DeleteFunctionCommand)) throw new Error('unexpected');
    if (fails) throw Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' });
    expect(command.input.FunctionName).toBe('token');
    deleted.push(command.input.Qualifier ?? 'the function itself');
    return {};
  };
  const run = makeEndRelease({
    readStack: async () => ({ status, release }),
    lambda: { send } as never,
    warn: text => warnings.push(text),
    ...waiting(),
  });
  return { run, deleted, warnings };
}

it('deletes all but the newest three versions', async () => {
  const { run, deleted } = cleanerOf({});
  await run(request());
  expect(deleted).toEqual(['4', '3']);
});

it('orders versions as numbers', async () => {
  const { run, deleted } = cleanerOf({ versions: [11, 10, 9, 8], aliases: [{ FunctionVersion: '11' }] });
  await run(request());
  expect(deleted).toEqual(['8']);
});

it('keeps what an alias leads to, with all requests or a part of them', async () => {
  const weighted = { FunctionVersion: '7', RoutingConfig: { AdditionalVersionWeights: { '4': 0.1 } } };
  const { run, deleted } = cleanerOf({ versions: [7, 6, 5, 4, 3, 2], aliases: [weighted, { FunctionVersion: '3' }] });
  await run(request());
  expect(deleted).toEqual(['2']);
});

it.each([
  ['after two bad releases', [7, 6, 5, 4, 3, 2, 1], 'rolled back from 6, 5 to 4 at 2026-11-22T00:00:00Z', ['2', '1']],
  ['after many', [9, 8, 7, 6, 5, 4, 3, 2], 'rolled back from 8, 7, 6, 5 to 4 at 2026-11-22T00:00:00Z', ['6', '5', '2']],
  [
    'that it was led back to, long ago',
    [9, 8, 7, 6, 3, 2],
    'rolled back from 5 to 3 at 2026-11-22T00:00:00Z',
    ['6', '2'],
  ],
] as const)('keeps three versions that nobody took back, %s', async (_case, versions, Description, gone) => {
  const live = { FunctionVersion: String(versions[0]), Description };
  const { run, deleted } = cleanerOf({ versions: [...versions], aliases: [live] });
  await run(request());
  expect(deleted).toEqual(gone);
});

it('keeps what the alias led to before this deployment, which may still fail', async () => {
  const { run, deleted } = cleanerOf({});
  await run({ ...request(), OldResourceProperties: { Release: 'r1', Versions: [`${arn}:3`] } });
  expect(deleted).toEqual(['4']);
});

it.each([
  ['it is deleted', 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', 'Delete'],
  ['its stack rolls back', 'UPDATE_ROLLBACK_IN_PROGRESS', 'Update'],
] as const)('deletes nothing where %s', async (_case, status, type) => {
  const { run, deleted } = cleanerOf({ status });
  await run(request(type));
  expect(deleted).toEqual([]);
});

it('fails no deployment: it says what stays', async () => {
  const { run, warnings } = cleanerOf({ fails: true });
  await run(request());
  expect(warnings).toEqual(['old versions of token were not deleted: AccessDeniedException: not authorized']);
});

it.each([
  ['the first time', '', 'r2 token:7,token-two:3', undefined],
  ['with what one version was published by', 'r1 token:6,token-two:3', 'r2 token:7 r1 token:6,token-two:3', 6],
  ['with one release before and no more', 'r1 token:6 r0 token:5', 'r2 token:7 r1 token:6', 6],
  ['where nothing of the stack changed', 'r1 ', 'r2  r1 ', 7],
])('tells the release and what it published: %s', async (_case, release, told, number) => {
  const { run } = cleanerOf({ release });
  const two = `${arn}-two:3`;
  const before =
    number === undefined ? {} : { OldResourceProperties: { Release: 'r1', Versions: [`${arn}:${number}`, two] } };
  const { Data } = await run({
    ...request(),
    ResourceProperties: { Release: 'r2', Versions: [`${arn}:7`, two] },
    ...before,
  });
  expect(Data.Release).toBe(told);
});

it('tells what it told, where its stack rolls back', async () => {
  const { run } = cleanerOf({ status: 'UPDATE_ROLLBACK_IN_PROGRESS', release: 'r1 token:6' });
  expect(await run(request())).toEqual({ Data: { Release: 'r1 token:6' } });
});

it('fails no deployment where nothing is known of its stack', async () => {
  const readStack = () => Promise.reject(new Error('no stack'));
  const warnings: string[] = [];
  const warn = (text: string) => warnings.push(text);
  const run = makeEndRelease({ readStack, lambda: {} as never, warn, ...waiting() });
  expect(await run(request())).toEqual({ Data: { Release: 'r2 token:7' } });
  expect(warnings).toEqual(['no version was deleted: Error: no stack']);
});

// Bug: one throttled call lost the release before for good, and in a roll-back told what was never published.
it('asks again for its stack where CloudFormation throttles', async () => {
  let calls = 0;
  const readStack = async () => {
    if (calls++ < 3) throw Object.assign(new Error('Rate exceeded'), { name: 'Throttling' });
    return { status: 'UPDATE_ROLLBACK_IN_PROGRESS', release: 'r1 token:6' };
  };
  const run = makeEndRelease({ readStack, lambda: {} as never, warn: () => {}, ...waiting() });
  expect(await run(request())).toEqual({ Data: { Release: 'r1 token:6' } });
});
