import type * as z from 'zod';
import { type CamelCase, camelCase } from '../lambdas/platform/environment.ts';
import { violatedRules } from './config-rules.ts';
import { type LaneConcurrency, laneConcurrency } from './lane-concurrency.ts';
import { ConfigurationError, isStageName, readStageFile, requireStage, type StageName } from './stage-files.ts';
import { requiredWithCustomers, type StageValues, stageValues } from './stage-values.ts';

/** All values that may differ between stages. Durations are in milliseconds. */
export type StageConfiguration = StageValues & LaneConcurrency & { readonly stage: StageName };

/**
 * Returns the configuration of a stage. `overrides` take precedence over the stage's file, and the file over the defaults.
 *
 * @throws {ConfigurationError} for an unknown stage, an unknown key, or an invalid or missing value.
 */
export function stageConfiguration(name: unknown, overrides: Record<string, unknown> = {}): StageConfiguration {
  const stage = requireStage(name);
  const input: Record<string, unknown> = { ...readStageFile(stage), ...overrides };
  rejectUnknownKeys(input);
  if (hasCustomers({ stage })) requireValues(stage, input);
  const values = parse(stage, input);
  const violated = violatedRules(values);
  if (violated.length > 0) throw invalid(stage, violated);
  return { stage, ...values, ...laneConcurrency(values.accountConcurrency) };
}

/**
 * Returns the configuration for the context of a CDK app. `-c stage=NAME` selects the stage (default `dev`). In `local` and `dev`,
 * `-c KEY=VALUE` overrides a value. Other stages accept only `gradual`, because the next deployment would undo any other override.
 * `release` is not a stage value (see `release.ts`).
 *
 * @throws {ConfigurationError} for an unknown stage, an unknown key, or an invalid or missing value.
 */
export function contextConfiguration(context: Readonly<Record<string, unknown>>): StageConfiguration {
  const { stage = 'dev', release: _, ...others } = context;
  // The CDK's own keys contain a colon or a slash. All other keys, even misspelt ones, are meant for Emissor.
  const overrides = Object.fromEntries(Object.entries(others).filter(([key]) => !/[:/]/.test(key)));
  const keys = Object.keys(overrides).filter(key => key !== 'gradual');
  if (keys.length > 0 && isStageName(stage) && hasCustomers({ stage })) {
    throw new ConfigurationError(
      `Stage ${stage}: the next deployment would undo -c ${keys.join(', ')}. Set values in stages/${stage}.ts instead.`,
    );
  }
  return stageConfiguration(stage, overrides);
}

/** Returns true if a stage has customers. The other stages are for experiments. */
export function hasCustomers({ stage }: Pick<StageConfiguration, 'stage'>): boolean {
  return !trialStages.includes(stage);
}

/** Returns the CloudWatch namespace for a stage's metrics. Stages that share an account need separate namespaces. */
export function metricsNamespace({ stage }: Pick<StageConfiguration, 'stage'>): string {
  return `Emissor/${stage}`;
}

/**
 * Returns the environment variables in a schema that are named after stage values, such as `REGISTRATION_LIMIT` for `registrationLimit`
 * and `ATTEMPT_TIMEOUT_MS` for `attemptTimeout`. The stacks set the other variables.
 */
export function stageVariables<Schema extends z.core.$ZodObject>(
  schema: Schema,
  configuration: StageConfiguration,
): StageVariables<z.input<Schema>> {
  const values: Readonly<Record<string, unknown>> = configuration;
  const names = Object.keys(schema._zod.def.shape).filter(name => keyOf(name) in stageValues.shape);
  const variables = names.map(name => [name, String(values[keyOf(name)] ?? '')]);
  return Object.fromEntries(variables);
}

/** Returns true if a stage has a stack for smoke tests, which contains a receiver, scheduled tests, or both. */
export function hasSmokeStack({ smokeReceiverUrl, smokeSchedule }: StageConfiguration): boolean {
  return smokeReceiverUrl === undefined || smokeSchedule !== undefined;
}

/** The variables in a schema that are named after stage values. */
type StageVariables<Variables> = {
  [Name in keyof Variables & string as KeyOf<Name> extends keyof StageValues ? Name : never]: Variables[Name];
};

type KeyOf<Name extends string> = CamelCase<Name extends `${infer Duration}_MS` ? Duration : Name>;

function keyOf(variable: string): string {
  return camelCase(variable.replace(/_MS$/, ''));
}

function rejectUnknownKeys(input: Record<string, unknown>): void {
  const keys = Object.keys(stageValues.shape);
  const unknown = Object.keys(input).find(key => !keys.includes(key));
  if (unknown === undefined) return;
  throw new ConfigurationError(`Unknown stage value "${unknown}". The values are ${keys.join(', ')}.`);
}

function requireValues(stage: StageName, input: Record<string, unknown>): void {
  const missing = Object.entries(stageValues.shape).flatMap(([key, schema]) => {
    const required = requiredWithCustomers.get(schema);
    return required && isEmpty(input[key]) ? [`${key} (${required.what})`] : [];
  });
  if (missing.length === 0) return;
  throw new ConfigurationError(`Stage ${stage}: stages/${stage}.ts must set ${missing.join(', ')}.`);
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}

function parse(stage: StageName, input: Record<string, unknown>): StageValues {
  const { success, data, error } = stageValues.safeParse(input);
  if (success) return data;
  throw invalid(
    stage,
    error.issues.map(issue => `${issue.path[0]?.toString() ?? 'configuration'} ${issue.message}`),
  );
}

function invalid(stage: StageName, problems: readonly string[]): ConfigurationError {
  return new ConfigurationError(`Stage ${stage}: ${[...new Set(problems)].join('; ')}.`);
}

/** The stages for experiments. They have no customers and require no values. */
const trialStages: readonly StageName[] = ['local', 'dev'];
