import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { pythonEnvironment } from '../support/python-environment.ts';
import type { CommandResult } from '../support/run-node.ts';
import { account, type Emulator, pythonRequirements, region, startEmulator } from './emulator.ts';
import { commandLimit, makeSteps, type Steps } from './steps.ts';
import { makeWorkCopy, type WorkCopy } from './work-copy.ts';
import './localhost-names.ts';

/** The steps of an operator, with the real command lines, on an emulator of AWS of their own instead of an account. */
export interface Drill extends Steps {
  readonly emulator: () => Emulator;
  /** The tree that is deployed. The stages are the committed ones; their files get what an operator writes into them. */
  readonly copy: () => WorkCopy;
  /** The Python that has the packages of `pythonRequirements`. */
  readonly python: () => string;
  deploy(stage: string): Promise<CommandResult>;
  /** Returns where the last deployment of a stage put its synthesised templates. */
  assemblyOf(stage: string): string;
  outputsFileOf(stage: string): string;
  /** Returns the outputs of all stacks of a stage. */
  outputsOf(stage: string): Record<'AuthUrl' | 'BaseUrl' | 'EventsQueueArn' | 'SmokeReceiverUrl', string>;
  /** Returns the names of the stacks that the last synthesis of a stage made. */
  stacksOf(stage: string): readonly string[];
  statesOf(stage: string): Promise<ReadonlyMap<string, string | undefined>>;
  /** Returns the findings of preflight: its exit code, its texts by check, and the checks that found a problem. */
  preflight(stage: string, ...words: string[]): Promise<Preflight>;
  /** Returns the answer of the operator's command line. @throws when it fails. */
  ops<Answer>(stage: string, words: readonly string[], input?: string): Promise<Answer>;
  /** Makes a client and a user by the operator's command line. */
  createAccounts(stage: string, name?: string): Promise<readonly [CreatedClient, CreatedUser]>;
  /** Returns how long the key set of a stage may be kept, which a changed function says otherwise. */
  cacheControl(stage: string): Promise<string | null>;
}

interface Preflight {
  readonly code: number | null;
  readonly findings: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

interface CreatedClient {
  readonly clientId: string;
  readonly clientSecret: string;
}

interface CreatedUser {
  readonly userId: string;
  readonly email: string;
  readonly password: string;
}

/**
 * Registers the first steps of a drill: the emulator is started, and its account bootstrapped.
 *
 * @param stages - what is written into the files of the stages first.
 */
export function makeDrill(stages: Readonly<Record<string, Readonly<Record<string, unknown>>>>): Drill {
  let started: { readonly emulator: Emulator; readonly copy: WorkCopy; readonly python: string } | undefined;
  const { step, inFolder } = makeSteps(() => started?.emulator);
  const running = () => {
    if (!started) throw new Error('The emulator was not started.');
    return started;
  };
  const emulator = () => running().emulator;
  const copy = () => running().copy;

  step(
    'start the emulator, installed with cfn-lint before where it is not',
    async () => {
      const python = await pythonEnvironment('deployment', pythonRequirements);
      const own = await startEmulator(python, inFolder('emulator'));
      started = { emulator: own, copy: makeWorkCopy(inFolder(), own.environment, commandLimit), python };
      for (const [stage, values] of Object.entries(stages)) copy().configure(stage, values);
      return own.endpoint;
    },
    660_000,
  );
  step('bootstrap the account', async () => {
    succeeded(await copy().cdk('bootstrap', `aws://${account}/${region}`, '--app', ''));
    return undefined;
  });

  const assemblyOf = (stage: string) => inFolder(`cdk.out-${stage}`);
  const outputsFileOf = (stage: string) => inFolder(`${stage}-outputs.json`);
  const outputsOf: Drill['outputsOf'] = stage =>
    Object.assign({}, ...Object.values(JSON.parse(readFileSync(outputsFileOf(stage), 'utf8'))));
  const stacksOf: Drill['stacksOf'] = stage => {
    const manifest = JSON.parse(readFileSync(path.join(assemblyOf(stage), 'manifest.json'), 'utf8')) as {
      artifacts: Record<string, { type: string }>;
    };
    const stacks = Object.entries(manifest.artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack');
    expect(stacks.length).toBeGreaterThanOrEqual(4);
    return stacks.map(([name]) => name);
  };
  const ops: Drill['ops'] = async (stage, words, input) =>
    JSON.parse(succeeded(await copy().program('ops', ['--stage', stage, '--json', ...words], input)).output);

  return {
    ...{ step, inFolder, emulator, copy, python: () => running().python },
    ...{ assemblyOf, outputsFileOf, outputsOf, stacksOf, ops },
    deploy: stage => {
      const files = ['--outputs-file', outputsFileOf(stage), '--output', assemblyOf(stage)];
      return copy().cdk('deploy', '--all', '-c', `stage=${stage}`, '--require-approval', 'never', ...files);
    },
    statesOf: async stage => {
      const stacks = await emulator().inventory.stacks();
      return new Map(stacksOf(stage).map(name => [name, stacks.get(name)]));
    },
    preflight: async (stage, ...words) => {
      const all = ['--stage', stage, '--json', ...words];
      const { code, output } = await copy().program('preflight', all, '', emulator().internetEnvironment);
      const { findings } = JSON.parse(output) as { findings: { check: string; state: string; text: string }[] };
      return {
        code,
        findings: new Map(findings.map(({ check, text }) => [check, text])),
        problems: findings.filter(({ state }) => state !== 'ok').map(({ check }) => check),
      };
    },
    createAccounts: async (stage, name = 'release') => {
      const email = `${name}@test.example.com`;
      const password = 'uma senha que ninguém mais usa';
      const client = ['clients', 'create', '--name', name, '--grant', 'password', '--grant', 'refresh_token'];
      const user = ['users', 'create', '--email', email, '--account', name, '--role', 'admin'];
      return [
        await ops<CreatedClient>(stage, client),
        { ...(await ops<{ userId: string }>(stage, user, `${password}\n`)), email, password },
      ] as const;
    },
    cacheControl: async stage =>
      (await fetch(`${outputsOf(stage).AuthUrl}/.well-known/jwks.json`)).headers.get('cache-control'),
  };
}

/** @throws with all output, when the command failed. */
export function succeeded(result: CommandResult): CommandResult {
  if (result.code !== 0) throw new Error(`It ended with ${result.code}:\n${result.output}`);
  return result;
}
