import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pythonEnvironment } from '../support/python-environment.ts';
import type { CommandResult } from '../support/run-node.ts';
import { type Emulator, pythonRequirements, startEmulator } from './emulator.ts';
import { makeWorkCopy } from './work-copy.ts';
import './localhost-names.ts';

/**
 * Registers the first steps of an operator. They start a new AWS emulator and bootstrap its account.
 *
 * @param stages - the values to set in the stage files, in a copy of the tree
 * @returns functions for further steps. `python` returns an interpreter with the packages in `pythonRequirements`.
 */
export function makeDrill(stages: Readonly<Record<string, Readonly<Record<string, unknown>>>>) {
  let session:
    | { readonly emulator: Emulator; readonly copy: ReturnType<typeof makeWorkCopy>; readonly python: string }
    | undefined;
  const { step, inFolder } = makeSteps(() => session?.emulator);
  const current = () => {
    if (!session) throw new Error('The emulator has not started.');
    return session;
  };
  const [emulator, copy, python] = [() => current().emulator, () => current().copy, () => current().python];

  step(
    'start the emulator, and install the emulator and cfn-lint if necessary',
    async () => {
      const python = await pythonEnvironment('deployment', pythonRequirements);
      const emulator = await startEmulator(python, inFolder('emulator'));
      session = { emulator, copy: makeWorkCopy(inFolder(), emulator.environment, commandLimit), python };
      for (const [stage, values] of Object.entries(stages)) copy().configure(stage, values);
      return emulator.endpoint;
    },
    660_000,
  );
  step('bootstrap the account', async () => {
    succeeded(await copy().cdk('bootstrap', '-c', 'stage=dev'));
    return undefined;
  });
  return {
    ...{ step, emulator, copy, python, deploy, assemblyOf, outputsFileOf, outputsOf },
    ...{ stacksOf, statesOf, preflight, ops, createAccounts, cacheControl },
  };

  /** Deploys a stage. @param options - additional options for `cdk deploy`. */
  function deploy(stage: string, ...options: readonly string[]): Promise<CommandResult> {
    const files = ['--outputs-file', outputsFileOf(stage), '--output', assemblyOf(stage)];
    return copy().cdk('deploy', '--all', '-c', `stage=${stage}`, '--require-approval', 'never', ...files, ...options);
  }

  function outputsFileOf(stage: string): string {
    return inFolder(`${stage}-outputs.json`);
  }

  /** Returns the folder with the templates of a stage's last deployment. */
  function assemblyOf(stage: string): string {
    return inFolder(`cdk.out-${stage}`);
  }

  /** Returns the outputs of all stacks of a stage. */
  function outputsOf(stage: string): Record<'AuthUrl' | 'BaseUrl' | 'EventsQueueArn' | 'SmokeReceiverUrl', string> {
    return Object.assign({}, ...Object.values(JSON.parse(readFileSync(outputsFileOf(stage), 'utf8'))));
  }

  /** Returns the names of the stacks in a stage's last synthesis. */
  function stacksOf(stage: string): readonly string[] {
    const manifest = JSON.parse(readFileSync(path.join(assemblyOf(stage), 'manifest.json'), 'utf8')) as {
      artifacts: Record<string, { type: string }>;
    };
    const stacks = Object.entries(manifest.artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack');
    expect(stacks.length).toBeGreaterThanOrEqual(4);
    return stacks.map(([name]) => name);
  }

  async function statesOf(stage: string): Promise<ReadonlyMap<string, string | undefined>> {
    const stacks = await emulator().inventory.stacks();
    return new Map(stacksOf(stage).map(name => [name, stacks.get(name)]));
  }

  /** Runs preflight. Returns its exit code, the problems by check, and the checks that it could not run. */
  async function preflight(stage: string) {
    const { code, output } = await copy().program('ops', ['--stage', stage, '--json', 'preflight']);
    // The final error is a separate object.
    const { problems, unread } = JSON.parse(output.replace(/^\{"error".*\n/m, '')) as {
      readonly problems: readonly { check: string; sentence: string }[];
      readonly unread: readonly { check: string; sentence: string }[];
    };
    return { code, problems: new Map(problems.map(({ check, sentence }) => [check, sentence])), unread };
  }

  /** Runs an operator's command and returns its output. @throws if it fails. */
  async function ops<Output>(stage: string, words: readonly string[], input?: string): Promise<Output> {
    const { output } = succeeded(await copy().program('ops', ['--stage', stage, '--json', ...words], input));
    return JSON.parse(output);
  }

  /** Creates a client and a user with the operator's command line. */
  async function createAccounts(stage: string, name = 'release') {
    const email = `${name}@test.example.com`;
    const password = 'uma senha que ninguém mais usa';
    const grants = ['--grant', 'password', '--grant', 'refresh_token'];
    const client = ['clients', 'create', '--name', name, ...grants, '--any-account'];
    const user = ['users', 'create', '--email', email, '--account', name, '--role', 'admin'];
    return [
      await ops<{ clientId: string; clientSecret: string }>(stage, client),
      { ...(await ops<{ userId: string }>(stage, user, `${password}\n`)), email, password },
    ] as const;
  }

  /** Returns the Cache-Control header of a stage's key set. Tests change its value to detect which version runs. */
  async function cacheControl(stage: string): Promise<string | null> {
    return (await fetch(`${outputsOf(stage).AuthUrl}/.well-known/jwks.json`)).headers.get('cache-control');
  }
}

/** Returns the result of a successful command. @throws with all output if the command failed. */
export function succeeded(result: CommandResult): CommandResult {
  if (result.code !== 0) throw new Error(`The command exited with code ${result.code}:\n${result.output}`);
  return result;
}

/** The time limit of a command on a busy machine, in milliseconds. */
export const commandLimit = 240_000;

/** Creates a function that registers steps. After the last step, it stops the emulator. */
function makeSteps(emulatorOf: () => Emulator | undefined) {
  const startedAt = performance.now();
  let folder = '';
  let failed: string | undefined;

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'emissor-deployment-'));
  });

  afterAll(async () => {
    const emulator = emulatorOf();
    console.log(`${secondsSince(startedAt)} s  total`);
    if (failed !== undefined && emulator) console.log(`The last lines of the emulator's log:\n${emulator.tail(60)}`);
    await emulator?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 30_000);

  return {
    /** Returns a path in the folder of this run, which is deleted at the end of the run. */
    inFolder: (...names: readonly string[]) => path.join(folder, ...names),
    /** Registers a test that prints the result of `run` and its duration. The test is skipped if an earlier step failed. */
    step: (name: string, run: () => Promise<string | undefined>, limit = 2 * commandLimit) => {
      it(name, { timeout: limit }, async ({ skip }) => {
        if (failed !== undefined) skip(`The step "${failed}" failed.`);
        const start = performance.now();
        let note: string | undefined = 'FAILED';
        try {
          note = await run();
        } catch (error) {
          failed = name;
          throw error;
        } finally {
          console.log(`${secondsSince(start)} s  ${name}${note === undefined ? '' : `: ${note}`}`);
        }
      });
    },
  };
}

function secondsSince(start: number): string {
  return ((performance.now() - start) / 1_000).toFixed(1).padStart(6);
}
