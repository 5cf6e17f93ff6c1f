import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { inject } from 'vitest';
import { type StageConfiguration, stageConfiguration } from '../../lib/config.ts';
import { addStage } from '../../lib/stage.ts';
import type { StageName } from '../../lib/stage-files.ts';
import { isFull } from '../support/sample.ts';

/** The stacks of a stage. */
export type StackName = 'Data' | 'Auth' | 'Webhooks' | 'Delivery' | 'Smoke';

/** A resource of a template. */
export interface Resource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: templates are untyped JSON, and tests read any property
  readonly Properties: any;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly DependsOn?: readonly string[];
  readonly UpdatePolicy?: {
    readonly CodeDeployLambdaAliasUpdate: { readonly DeploymentGroupName: { readonly Ref: string } };
  };
}

const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'));

/**
 * Creates a CDK app with the project's feature flags and without bundling. The set-up removes its output directory. By default, only a
 * full run validates templates, because CloudFormation validation takes half of the synthesis time.
 */
export const makeApp = ({ validated = isFull } = {}): App =>
  new App({
    outdir: mkdtempSync(path.join(inject('assemblies'), 'cdk.out-')),
    builtinCloudFormationValidation: validated,
    treeMetadata: false,
    context: {
      ...context,
      'aws:cdk:bundling-stacks': [],
      'aws:cdk:disable-stack-trace': true,
      'aws:cdk:disable-creation-stack-traces': true, // saves 10% of the synthesis time
    },
  });

/** The required values of each stage. */
export const requiredValues: Partial<Record<StageName, Record<string, unknown>>> = {
  prod: {
    account: '111122223333',
    region: 'sa-east-1',
    demandsUrl: 'https://demandas.emissor.com.br',
    alarmRecipients: ['ops@emissor.com.br'],
  },
};

/** Returns the stacks of a stage without a synthesis, which would double the time. */
export const stacksOf = (stage: string, overrides: Record<string, unknown> = {}, release = 'test'): readonly Stack[] =>
  stacksWith(stageConfiguration(stage, { ...requiredValues[stage], ...overrides }), release);

const stacksWith = (configuration: StageConfiguration, release = 'test'): readonly Stack[] => {
  const app = makeApp();
  addStage(app, configuration, release);
  return app.node.children.filter(child => child instanceof Stack);
};

/** Returns the templates of a stage. Synthesises them only once for all tests. `local` has no `Smoke`. */
export const stageTemplates = (
  stage: StageName,
  overrides: Record<string, unknown> = {},
): Record<StackName, Template> => {
  const configuration = stageConfiguration(stage, { ...requiredValues[stage], ...overrides });
  const name = createHash('sha256').update(JSON.stringify(configuration)).digest('hex');
  const templates = templatesByHash.get(name) ?? sharedTemplates(path.join(inject('assemblies'), name), configuration);
  templatesByHash.set(name, templates);
  return templates;
};

const templatesByHash = new Map<string, Record<StackName, Template>>();

/** Reads the templates from a file. If the file does not exist, creates them and writes the file atomically for other workers. */
const sharedTemplates = (file: string, configuration: StageConfiguration): Record<StackName, Template> => {
  if (!existsSync(file)) {
    const stacks = stacksWith(configuration);
    const templates = stacks.map(stack => [stack.node.id.split('-').at(-1), Template.fromStack(stack).toJSON()]);
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(Object.fromEntries(templates)));
    renameSync(`${file}.${process.pid}`, file);
  }
  const read = Object.entries<object>(JSON.parse(readFileSync(file, 'utf8')));
  return Object.fromEntries(read.map(([name, template]) => [name, Template.fromJSON({ ...template })])) as Record<
    StackName,
    Template
  >;
};

/** Returns the resources of a type with their logical ids, from a template or from all templates of a stage. */
export const resourcesOf = (from: Template | Record<StackName, Template>, type: string): [string, Resource][] =>
  (from instanceof Template ? [from] : Object.values(from)).flatMap(template =>
    Object.entries(template.toJSON().Resources as Record<string, Resource>).filter(([, { Type }]) => Type === type),
  );

/** Returns a logical id without the hash that the CDK appends. */
export const withoutHash = (id: string): string => id.replace(/[0-9A-F]{8}$/, '');

/** Returns the properties of all resources of a type, by logical id without the hash. `resolveIntrinsics` replaces computed values. */
export const propertiesOf = (
  from: Template | Record<StackName, Template>,
  type: string,
): Record<string, Resource['Properties']> =>
  Object.fromEntries(
    resourcesOf(from, type).map(([id, { Properties }]) => [withoutHash(id), resolveIntrinsics(Properties)]),
  );

/** Replaces values that CloudFormation computes with strings, such as `{"Ref": "Clients67031123"}` with `Clients`. */
// biome-ignore lint/suspicious/noExplicitAny: templates are untyped JSON
export const resolveIntrinsics = (value: any): any => {
  if (Array.isArray(value)) return value.map(resolveIntrinsics);
  if (typeof value !== 'object' || value === null) return value;
  const [name = '', of] = Object.entries<Resource['Properties']>(value)[0] ?? [];
  if (name === 'Ref') return withoutHash(of);
  if (name === 'Fn::GetAtt') return `${withoutHash(of[0])}.${of[1]}`;
  if (name === 'Fn::Join') return of[1].map(resolveIntrinsics).join(of[0]);
  if (name === 'Fn::Select') return `${of[0]} of ${resolveIntrinsics(of[1])}`;
  if (name === 'Fn::Split') return `${resolveIntrinsics(of[1])} by ${of[0]}`;
  if (name === 'Fn::ImportValue') {
    const [, id = '', attribute] = /ExportsOutput(?:Ref|FnGetAtt)(\w+?)[0-9A-F]{8}(\w*)[0-9A-F]{8}$/.exec(of) ?? [];
    return attribute ? `${id}.${attribute}` : id;
  }
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, resolveIntrinsics(part)]));
};

const certificate = 'arn:aws:acm:sa-east-1:111122223333:certificate/a';

/** The stage values for custom domains. */
export const authDomain = { authDomain: { name: 'auth.emissor.com.br', certificateArn: certificate } };
export const baseDomain = { baseDomain: { name: 'api.emissor.com.br', certificateArn: certificate } };

/** Returns true if a function is part of the service. The CDK's functions run only during deployments. */
export const isServiceFunction = ([id]: readonly [string, Resource]): boolean =>
  !/^AWS|CustomResourceProvider/.test(id);
