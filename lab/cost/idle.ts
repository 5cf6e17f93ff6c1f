import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { stageConfiguration } from '../../lib/config.ts';
import { addStage } from '../../lib/stage.ts';
import { accessLineBytes } from './access-line.ts';
import { assumptions } from './assumptions.ts';
import type { Counts } from './counts.ts';
import type { Quantities } from './prices.ts';

/** A stage whose idle month is summed up. */
type IdleStage = 'dev' | 'prod';

/** One line of an idle month. */
export interface IdleItem {
  readonly what: string;
  readonly quantities: Quantities;
  /** The year of a stage from which on it is paid. @default - the first */
  readonly fromYear?: 2 | 3;
}

/** Returns what a stage has, and does, in a month in which nobody asks for anything; from its templates. */
export function idleMonth(stage: IdleStage, sweep: Counts): readonly IdleItem[] {
  const { resources, logRetentionDays, smokeSchedule } = synthesised(stage);
  const countOf = (type: string) => resources.filter(({ Type }) => Type === type).length;
  const mappings = countOf('AWS::Lambda::EventSourceMapping');
  const polls = (mappings * pollers * monthSeconds) / pollSeconds;
  const alarms = resources.filter(({ Type }) => Type === 'AWS::CloudWatch::Alarm');
  const watched = alarms.reduce((sum, { Properties }) => sum + watchedBy(Properties), 0);
  const tests = smokeSchedule === undefined ? 0 : (monthSeconds * 1_000) / smokeSchedule;
  const keys = countOf('AWS::KMS::Key') + countOf('AWS::KMS::ReplicaKey');
  const rotated = resources.filter(({ Properties }) => Properties?.EnableKeyRotation).length;
  const dashboards = countOf('AWS::CloudWatch::Dashboard');
  const sweeps = monthSeconds / 60;
  const bytes = sweeps * (sweep.logBytes + sweep.logLines * assumptions.perLineBytes);
  return [
    { what: `${alarms.length} alarms on ${watched} metrics`, quantities: { alarm: watched } },
    {
      what: `metrics that are written all the time: ${idleMetrics.length}`,
      quantities: { metric: idleMetrics.length },
    },
    {
      what: `smoke tests: ${tests}`,
      quantities: Object.fromEntries(Object.entries(oneTest).map(([priced, quantity]) => [priced, tests * quantity])),
    },
    { what: `${keys} KMS keys`, quantities: { key: keys } },
    { what: `${dashboards} dashboards`, quantities: { dashboard: dashboards } },
    {
      what: `${mappings} triggers, ${pollers} long polls of ${pollSeconds} s each at all times`,
      quantities: { queueRequest: polls },
    },
    {
      what: 'the sweeper, each minute: invocations and their time',
      quantities: {
        invocation: sweeps,
        gigabyteSecond: (sweeps * sweepMilliseconds * sweep.megabytes) / 1_024 / 1_000,
      },
    },
    {
      what: 'the sweeper: reads and writes, and each quarter of an hour the state of the key',
      quantities: {
        readUnit: sweeps * sweep.readUnits,
        writeUnit: sweeps * sweep.writeUnits,
        keyRequest: sweeps / 15,
      },
    },
    { what: 'the sweeper: lines of its log', quantities: { logGigabyte: bytes / 1e9 } },
    {
      what: `logs kept for ${logRetentionDays} days`,
      quantities: { logStorageGigabyte: (bytes * logRetentionDays) / 30 / 1e9 },
    },
    {
      what: `from the second year on: the first rotation of ${rotated} KMS keys`,
      quantities: { key: rotated },
      fromYear: 2,
    },
    {
      what: 'from the third year on: their second; later ones cost nothing',
      quantities: { key: rotated },
      fromYear: 3,
    },
  ];
}

/** Returns what tells the memory of a function of the templates, in megabytes. */
export function functionMemory(): (name: string) => number {
  const { resources } = synthesised('dev');
  return name =>
    resources.find(({ Properties }) => Properties?.Description === `Emissor dev: ${name}`)?.Properties?.MemorySize ?? 0;
}

/** Long polls that Lambda keeps up for a trigger of a standard queue, and how long each lasts. */
const pollers = 5;
const pollSeconds = 20;

/** The metrics that a sweep writes where it finds nothing. A smoke test that passes writes none. A metric costs for each hour in which it is written. */
export const idleMetrics = ['OldestDue'];

/**
 * One smoke test: a login, four requests about webhooks, two for the delivery, an event, its receiver, the end of the login, and the
 * test itself, taken to last 3 s. Three parameters are opened by KMS, and a key of each kind by each process that was not there.
 */
const oneTest: Quantities = {
  apiRequest: 8,
  invocation: 11,
  gigabyteSecond: 3 * 0.5 + 0.6,
  readUnit: 40,
  writeUnit: 8,
  queueRequest: 4,
  keyRequest: 3 + 5,
  logGigabyte: (8 * (accessLineBytes() + assumptions.perLineBytes) + 11 * 600) / 1e9,
};

/** The properties of a resource that are read: the metrics of an alarm, the rotation of a key, and the memory of a function. */
interface ResourceProperties {
  readonly Description?: string;
  readonly MemorySize?: number;
  readonly Metrics?: readonly { readonly MetricStat?: unknown }[];
  readonly EnableKeyRotation?: boolean;
}

/** An alarm costs for each metric that it watches; one on an expression, for each in that. */
function watchedBy({ Metrics }: ResourceProperties = {}): number {
  return Metrics?.filter(({ MetricStat }) => MetricStat !== undefined).length ?? 1;
}

/** Seconds of a month of 730 hours. */
const monthSeconds = 730 * 3_600;

/** Milliseconds that a sweep which finds nothing is taken to last. */
const sweepMilliseconds = 50;

/** Values that a stage must be given before it can be synthesised. None of them has a price. */
const required = {
  dev: {},
  prod: {
    account: '111122223333',
    region: 'sa-east-1',
    demandsUrl: 'https://demandas.example.com',
    alarmRecipients: ['operators@example.com'],
  },
};

function synthesised(stage: IdleStage) {
  const outdir = mkdtempSync(join(tmpdir(), 'emissor-cost-'));
  try {
    const app = new App({ outdir, builtinCloudFormationValidation: false, context: { 'aws:cdk:bundling-stacks': [] } });
    const configuration = stageConfiguration(stage, required[stage]);
    addStage(app, configuration);
    const stacks = app.node.children.filter(child => child instanceof Stack);
    const resources = stacks.flatMap(stack =>
      Object.values(
        Template.fromStack(stack).toJSON().Resources as Record<
          string,
          { readonly Type: string; readonly Properties?: ResourceProperties }
        >,
      ),
    );
    const { logRetentionDays, smokeSchedule } = configuration;
    return { resources, logRetentionDays, smokeSchedule };
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}
