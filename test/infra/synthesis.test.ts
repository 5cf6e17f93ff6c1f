import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CfnResource, Stack, Validations } from 'aws-cdk-lib';
import { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contextConfiguration, stageConfiguration } from '../../lib/config.ts';
import { addStage } from '../../lib/stage.ts';
import { ConfigurationError } from '../../lib/stage-files.ts';
import { makeApp, required } from './templates.ts';

const root = join(import.meta.dirname, '../..');

/** Runs a program with nothing but a PATH in its environment: no home, no region, no credentials. */
const runBare = (program: string, ...args: string[]) =>
  spawnSync(join(root, 'node_modules/.bin', program), args, {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: `${join(root, 'node_modules/.bin')}:/usr/bin:/bin`, HOME: '/nonexistent' },
  });

describe('synthesising without credentials', () => {
  const bundles = () =>
    readdirSync(output)
      .filter(name => name.startsWith('asset.'))
      .map(name => join(output, name, 'index.mjs'))
      .filter(path => statSync(path, { throwIfNoEntry: false }));
  let output: string;
  let exit: ReturnType<typeof runBare>;

  beforeAll(() => {
    output = mkdtempSync(join(tmpdir(), 'emissor-synth-'));
    exit = runBare('cdk', 'synth', '--quiet', '--strict', '--output', output, '-c', 'smokeSchedule=15m'); // all functions
  });
  afterAll(() => rmSync(output, { recursive: true }));

  it('passes cdk-nag and CloudFormation validation', () => {
    expect(exit.stderr).toContain('Successfully synthesized');
    expect(exit.status).toBe(0);
  });

  it('gives each entry a bundle of its own', () => {
    const entries = bundles();
    const handlers = globSync('lambdas/**/*.handler.ts', { cwd: root });
    expect(entries).toHaveLength(handlers.length);
    expect(new Set(entries.map(path => readFileSync(path, 'utf8'))).size).toBe(handlers.length);
  });

  it('puts the client of SNS, which most processes never need, in a file that they do not load', async () => {
    const tellers = bundles().filter(path => readFileSync(path, 'utf8').includes('import("./client-sns.mjs")'));
    expect(tellers).toHaveLength(2); // one for the consumers, one for the sweeper
    for (const path of tellers) {
      expect(await import(join(dirname(path), 'client-sns.mjs'))).toHaveProperty('PublishCommand');
      expect(readFileSync(path, 'utf8')).not.toContain('AuthorizationErrorException');
    }
  });
});

describe('a stage with everything switched on', () => {
  it('passes cdk-nag and CloudFormation validation', () => {
    const app = makeApp();
    const certificate = 'arn:aws:acm:sa-east-1:111122223333:certificate/a';
    const values = {
      ...required.prod,
      ...{ authDomain: 'auth.emissor.com.br', authCertificateArn: certificate },
      ...{ baseDomain: 'api.emissor.com.br', baseCertificateArn: certificate },
      ...{ protection: true, gradual: true, encryption: 'customer-managed', smokeSchedule: '15m' },
    };
    addStage(app, stageConfiguration('prod', values));
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth()).not.toThrow();
  });
});

describe('a mistake', () => {
  it.each([
    ['an unknown stage', { stage: 'no-such-stage' }, /^Unknown stage "no-such-stage": the stages are .*prod/],
    ['a file that is not filled in', { stage: 'prod' }, /^Stage prod: stages\/prod\.ts must give account/],
    ['a duration out of bounds', { accessTokenLifetime: '999999999d' }, /accessTokenLifetime must be 1s to 24h/],
    ['a value that does not fit', { retrySchedule: 'soon' }, /retrySchedule must be a whole number with a unit/],
  ])('in the context, %s, is one clear line', (_case, context, message) => {
    const attempt = () => contextConfiguration({ ...makeApp().node.getAllContext(), ...context });
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(message);
    expect(attempt).not.toThrow(/\n/);
  });

  it('in the context ends the CDK with that line and no stack trace', () => {
    const { status, stderr } = runBare('cdk', 'synth', '--quiet', '-c', 'stage=no-such-stage');
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/^Unknown stage "no-such-stage": the stages are .*prod/m);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it.each([
    ['cdk-nag', (stack: Stack) => new CfnQueue(stack, 'PlainHttp'), /AwsSolutions-SQS4/],
    [
      'CloudFormation validation',
      (stack: Stack) =>
        new CfnResource(stack, 'Misspelt', { type: 'AWS::SQS::Queue', properties: { VisibilityTimeoot: 30 } }),
      /VisibilityTimeoot/,
    ],
  ])('in a template is an error of %s', (_check, add, message) => {
    const app = makeApp();
    add(new Stack(app, 'Wrong'));
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth()).toThrow(message);
  });
});
