import { type AliasConfiguration, GetAliasCommand, UpdateAliasCommand } from '@aws-sdk/client-lambda';
import { describe, expect, it } from 'vitest';
import { makeStartRelease, type ReleaseStartRequest } from '../../../../lambdas/platform/deployment/release-start.ts';

const request = (changes: Partial<ReleaseStartRequest> = {}, Gradual: 'true' | 'false' = 'true') => ({
  RequestType: 'Update' as const,
  StackId: 'the stack',
  ResourceProperties: { Stage: 'prod', Gradual, Versions: ['arn:aws:lambda:sa-east-1:111122223333:function:token:7'] },
  ...changes,
});
const denied = () => Object.assign(new Error('not yet'), { name: 'AccessDeniedException' });

/** The start of a release of one function, in virtual time. Its calls fail first as `failures` say. */
function startOf(alias: AliasConfiguration | undefined, status = 'UPDATE_IN_PROGRESS', failures: Error[] = []) {
  const changes: object[] = [];
  const send = async (command: object) => {
    const failure = failures.shift();
    if (failure) throw failure;
    if (command instanceof UpdateAliasCommand) return void changes.push(command.input);
    if (!(command instanceof GetAliasCommand)) throw new Error('unexpected');
    expect(command.input).toEqual({ FunctionName: 'token', Name: 'live' });
    if (!alias) throw Object.assign(new Error('no alias'), { name: 'ResourceNotFoundException' });
    return alias;
  };
  const effects = { readStackStatus: async () => status, lambda: { send } as never };
  return { run: makeStartRelease({ ...effects, pause: async () => {}, now: () => 0 }), changes };
}

const Description = 'rolled back from 5 to 4 at 2026-11-22T00:00:00Z';
const shifts = { RoutingConfig: { AdditionalVersionWeights: { '5': 0.1 } } };
const toOneVersion = [{ FunctionName: 'token', Name: 'live', RoutingConfig: { AdditionalVersionWeights: {} } }];

describe.each(['true', 'false'] as const)('a deployment whose being gradual is %s,', gradual => {
  const stands = gradual === 'true' ? 'refused' : 'true';
  it.each<[string, AliasConfiguration | undefined, 'refused' | 'true' | 'false', object[]]>([
    ['with an alias that was never led back', { FunctionVersion: '4' }, 'false', []],
    ['that is the first', undefined, 'false', []],
    ['after a roll-back', { FunctionVersion: '4', Description }, stands, []],
    ['after one that failed after a roll-back', { FunctionVersion: '5', Description }, 'true', []],
    ['after one that led on from a roll-back', { FunctionVersion: '6', Description }, 'false', []],
    ['with an alias that still shifts', { FunctionVersion: '4', ...shifts }, 'false', toOneVersion],
    [
      'with one that shifts after a roll-back',
      { FunctionVersion: '4', Description, ...shifts },
      stands,
      gradual === 'true' ? [] : toOneVersion,
    ],
  ])('%s', async (_case, alias, outcome, changed) => {
    const { run, changes } = startOf(alias);
    const told = run(request({}, gradual)).then(
      ({ Data }) => Data.IsRolledBack,
      (error: Error) => (/set gradual: false in stages\/prod\.ts/.test(error.message) ? 'refused' : error.message),
    );
    expect(await told).toBe(outcome);
    expect(changes).toEqual(changed);
  });
});

it.each([
  ['it is deleted', 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', 'Delete'],
  ['its stack rolls back', 'UPDATE_ROLLBACK_IN_PROGRESS', 'Update'],
] as const)('a release stops nothing, and changes nothing, where %s', async (_case, status, RequestType) => {
  const { run, changes } = startOf({ FunctionVersion: '4', Description, ...shifts }, status);
  expect(await run(request({ RequestType }))).toEqual({ Data: { IsRolledBack: 'false' } });
  expect(changes).toEqual([]);
});

it('a release waits for permissions that IAM does not know yet', async () => {
  const { run, changes } = startOf({ FunctionVersion: '4', ...shifts }, undefined, [denied(), denied()]);
  await run(request());
  expect(changes).toEqual(toOneVersion);
});
