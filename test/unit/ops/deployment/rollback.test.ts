import type { Stack, StackStatus } from '@aws-sdk/client-cloudformation';
import { describe, expect, it } from 'vitest';
import { nextDeployment } from '../../../../ops/deployment/next-deployment.ts';
import { rollback } from '../../../../ops/deployment/rollback.command.ts';
import { readReleases, rollBack } from '../../../../ops/deployment/rollback.ts';
import { requireNoDeployment } from '../../../../ops/deployment/stack-states.ts';
import { aStage, connectTo } from '../a-stage.ts';

// `ops rollback` points every alias to the version of one release, earlier or later (contract, section 7).

interface Command {
  readonly input: { readonly StackName: string; readonly FunctionName: string; readonly [field: string]: unknown };
}

/** Creates a stage with the functions Token and Sweep. */
function makeStage({ onQuestion = (_stack: Stack) => {}, isMoved = (_function: string): boolean => true } = {}) {
  const stack: Stack = { StackName: '', CreationTime: new Date(0), StackStatus: 'UPDATE_COMPLETE' };
  const aliases = new Map<string, Record<string, unknown>>([
    ['Token', { FunctionVersion: '3', RoutingConfig: {}, RevisionId: 'a' }],
    ['Sweep', { FunctionVersion: '2', RoutingConfig: {}, RevisionId: 'a' }],
  ]);
  const responses: Readonly<Record<string, (input: Command['input']) => unknown>> = {
    DescribeStacksCommand: ({ StackName }) => ({ Stacks: [{ ...stack, StackName }] }),
    ListStackResourcesCommand: ({ StackName }) => ({ StackResourceSummaries: resourcesIn(StackName) }),
    ListVersionsByFunctionCommand: ({ FunctionName }) => ({ Versions: versionsOf(FunctionName) }),
    GetAliasCommand: ({ FunctionName }) => aliases.get(FunctionName),
    UpdateAliasCommand: ({ FunctionName, FunctionVersion, RoutingConfig, RevisionId }) => {
      if (!isMoved(FunctionName)) throw Object.assign(new Error('changed'), { name: 'PreconditionFailedException' });
      expect(RevisionId).toBe(aliases.get(FunctionName)?.RevisionId);
      aliases.set(FunctionName, { FunctionVersion, RoutingConfig, RevisionId: `${RevisionId}+` });
      return {};
    },
  };
  const connect = connectTo<Command>(command => responses[command.constructor.name]?.(command.input));
  const deployed = aStage();
  const [questions, results]: [string[], object[]] = [[], []];
  const task = {
    target: { connect, label: 'stage dev', deployed, unreachable: 'AWS did not respond.' },
    progress: () => {},
    recordResult: (subject: object) => void results.push(subject),
    confirm: async (text: string) => {
      questions.push(text);
      onQuestion(stack);
    },
  } as never as Parameters<typeof rollBack>[0];
  const to = (release: string) => rollBack(task, deployed, release);
  const versions = () => Object.fromEntries([...aliases].map(([name, alias]) => [name, alias.FunctionVersion]));
  return { aliases, stack, deployed, task, questions, results, to, versions };
}

/** Returns the alias and the version of a stack's function, and an earlier version that CloudFormation could not delete. */
function resourcesIn(stackName: string): object[] {
  if (!/-(Auth|Delivery)$/.test(stackName)) return [];
  const [name, version] = stackName.endsWith('-Auth') ? ['Token', 3] : ['Sweep', 2];
  const arn = `arn:aws:lambda:sa-east-1:111122223333:function:${name}`;
  const published = { ResourceType: 'AWS::Lambda::Version', LogicalResourceId: 'Any' };
  return [
    { ResourceType: 'AWS::Lambda::Alias', LogicalResourceId: `${name}Live0123ABCD`, PhysicalResourceId: `${arn}:live` },
    { ...published, PhysicalResourceId: `${arn}:${version}` },
    { ...published, PhysicalResourceId: `${arn}:1`, ResourceStatus: 'DELETE_FAILED' },
  ];
}

/** Returns the versions of a function in three releases, a day apart. The first release does not contain Sweep. */
function versionsOf(name: string): object[] {
  const releases = name === 'Token' ? ['r1', 'r2', 'r3'] : ['r2', 'r3'];
  const published = releases.map((release, at) => ({
    ...{ Version: `${at + 1}`, Description: release },
    LastModified: `2026-11-1${release.slice(1)}T00:00:00.000+0000`,
  }));
  return [{ Version: '$LATEST', LastModified: '2026-11-20T00:00:00.000+0000' }, ...published];
}

describe('a rollback', () => {
  it('lists the releases and versions in Lambda, newest first, if no release is specified', async () => {
    const { task, deployed, questions, results } = makeStage();
    const { releases, functions } = await readReleases(task.target, deployed);
    const rows = releases.map(({ release, publishedAt, versions }) => [release, publishedAt.slice(0, 10), ...versions]);
    expect(rows).toEqual([
      ['r3', '2026-11-13', ['Sweep', 2], ['Token', 3]],
      ['r2', '2026-11-12', ['Sweep', 1], ['Token', 2]],
      ['r1', '2026-11-11', ['Token', 1]],
    ]);
    expect(functions).toMatchObject([
      { name: 'Sweep', version: 2, deployedVersion: 2, sharing: [] },
      { name: 'Token', version: 3, deployedVersion: 3, sharing: [] },
    ]);
    const [command] = rollback.commands as unknown as [{ act: (task: unknown, args: object) => Promise<object> }];
    const listed = [{ release: 'r3', functions: 2, running: 2 }, {}, {}];
    expect(await command.act(task, {})).toMatchObject({ json: { releases: listed } });
    expect([...questions, ...results]).toEqual([]);
  });

  it('asks for confirmation, moves every alias to an earlier or later release, and has no effect when repeated', async () => {
    const { to, versions, questions, results } = makeStage();
    const moved = [
      { function: 'Sweep', from: 2, to: 1 },
      { function: 'Token', from: 3, to: 2 },
    ];
    expect(await to('r2')).toMatchObject({ moved });
    expect(versions()).toEqual({ Token: '2', Sweep: '1' });
    expect(results).toEqual([{ release: 'r2' }, { functions: ['Sweep 2->1', 'Token 3->2'] }]);
    expect(await to('r2')).toMatchObject({ moved: [] });
    expect(questions).toEqual(['This changes stage dev: Sweep from version 2 to 1, Token from version 3 to 2.']);
    await to('r3');
    expect(versions()).toEqual({ Token: '3', Sweep: '2' });
  });

  it('skips and lists functions that the release does not contain', async () => {
    const stage = makeStage();
    expect(await stage.to('r1')).toMatchObject({ moved: [{ function: 'Token', to: 1 }], without: ['Sweep'] });
    expect(stage.versions()).toEqual({ Token: '1', Sweep: '2' });
  });

  it('removes the weights of an alias during a traffic shift', async () => {
    const stage = makeStage();
    const shifting = { FunctionVersion: '2', RevisionId: 'a', RoutingConfig: { AdditionalVersionWeights: { 3: 0.1 } } };
    stage.aliases.set('Token', shifting);
    await stage.to('r2');
    expect(stage.versions()).toMatchObject({ Token: '2' });
    expect(stage.aliases.get('Token')?.RoutingConfig).toEqual({ AdditionalVersionWeights: {} });
  });

  it('rejects an unknown release, and lists the known releases', async () => {
    const stage = makeStage();
    await expect(stage.to('r9')).rejects.toThrow('stage dev has no release r9. Available releases: r3, r2, r1.');
    expect(stage.results).toEqual([]);
  });

  it('fails during a deployment, even if the deployment starts during the confirmation', async () => {
    const stage = makeStage({ onQuestion: stack => Object.assign(stack, { StackStatus: 'UPDATE_IN_PROGRESS' }) });
    await expect(stage.to('r2')).rejects.toThrow(/^A deployment is in progress: stack Emissor-dev-Data/);
    expect(stage.questions).toHaveLength(1);
    const deploying = aStage({}, { Auth: { StackStatus: 'UPDATE_IN_PROGRESS' } });
    await expect(rollBack(stage.task, deploying, 'r2')).rejects.toThrow(/in progress/);
    expect(stage.questions).toHaveLength(1);
    expect(stage.versions()).toEqual({ Token: '3', Sweep: '2' });
  });

  // Between stacks of one `cdk deploy --all`, CloudFormation updates no stack.
  it('fails if a stack is updated while the aliases move', async () => {
    const stage = makeStage({ isMoved: () => Object.assign(stage.stack, { LastUpdatedTime: new Date(1) }) !== null });
    await expect(stage.to('r2')).rejects.toThrow(/^A deployment started during the rollback/);
  });

  it('reports the aliases that it could not move, and records the others', async () => {
    const stage = makeStage({ isMoved: name => name !== 'Token' });
    await expect(stage.to('r2')).rejects.toThrow(
      /^1 of 2 aliases were not moved: Token \(.*Run the same command again\.$/,
    );
    expect(stage.results.at(-1)).toEqual({ functions: ['Sweep 2->1'] });
  });
});

it.each([
  [['0.2.0-abc', '0.2.0-abc'], 1],
  [['0.2.0-abc-n3', '0.2.0-abc'], 4],
  [[], 1],
])('the next deployment has a higher number than the deployed releases: %j', (labels, number) => {
  const [Auth = {}, Delivery = {}] = labels.map(OutputValue => ({ Outputs: [{ OutputKey: 'Release', OutputValue }] }));
  expect(nextDeployment(aStage({}, { Auth, Delivery }))).toBe(
    `npx cdk deploy --all -c stage=dev -c gradual=false -c release=${number}`,
  );
});

it.each<[StackStatus, RegExp]>([
  [
    'CREATE_IN_PROGRESS',
    /\. Wait .*wait stack-create-complete --region sa-east-1 --stack-name Emissor-dev-Auth"\), then/,
  ],
  ['ROLLBACK_IN_PROGRESS', /\. Wait .*wait stack-create-complete .*Auth", which then exits with 255\)/],
  ['UPDATE_IN_PROGRESS', /cancel-update-stack .*Auth", then .*stack-rollback-complete .*wait stack-update-complete/],
  ['UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', /\. Wait .*wait stack-update-complete .*Auth"\)/],
  ['UPDATE_ROLLBACK_IN_PROGRESS', /\. Wait .*wait stack-rollback-complete .*Auth"\)/],
  ['UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS', /\. Wait .*wait stack-rollback-complete .*Auth"\)/],
  ['DELETE_IN_PROGRESS', /\. Wait .*wait stack-delete-complete .*Auth"\)/],
  ['IMPORT_IN_PROGRESS', /\. Wait .*wait stack-import-complete .*Auth"\)/],
])('a rollback fails during the state %s, and shows the commands to wait', (StackStatus, message) => {
  const within = (state: StackStatus) => aStage({}, { Auth: { StackStatus: state } });
  expect(() => requireNoDeployment(within(StackStatus))).toThrow(message);
  expect(() => requireNoDeployment(within('UPDATE_COMPLETE'))).not.toThrow();
});
