import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { StageConfiguration } from '../config.ts';

/** The rule of an alarm: when it goes off. */
export interface AlarmRule {
  readonly metric: cloudwatch.IMetric;
  /** @default 0 */
  readonly threshold?: number;
  /** The side of the threshold on which it goes off; missing data counts as below. @default above */
  readonly comparison?: 'above' | 'below';
  /** Number of breaching periods. @default 1 */
  readonly periods?: number;
  /** The breaching periods may be any of this many latest ones. @default - they are consecutive */
  readonly among?: number;
}

/** An alarm, and what it says to a person who was never here. */
export interface AlarmRow {
  /** A page wakes somebody; a ticket waits for the morning. */
  readonly severity: Severity;
  /** The harm that users feel, or will feel, in one sentence. */
  readonly harm: string;
  /** The first command to type, of the operator's command line. */
  readonly command: string;
  readonly rule: AlarmRule;
  /** True where a stage that has no customers does without it. @default false */
  readonly customersOnly?: boolean;
  /** True where no rule sends its mail, since it rings where those fail. @default false */
  readonly direct?: boolean;
  /** The alarm's section in the runbook. @default - its name */
  readonly section?: string;
}

export type Severity = 'page' | 'ticket';

/**
 * How an alarm is to be told of. A page of silence rings where something is not heard, as before it is heard for the first time. A
 * direct page is sent by the alarm itself.
 */
export type Urgency = Severity | 'page: silence' | 'page: direct';

export interface AlarmsProps {
  readonly configuration: StageConfiguration;
  readonly rows: Readonly<Record<string, AlarmRow>>;
}

/**
 * The alarms of one stack. None has an action here: rules on the changes of their states send the mails (`alarm-mails.ts`), by what
 * the description begins with.
 */
export class Alarms extends Construct {
  readonly alarms: readonly cloudwatch.Alarm[];

  constructor(scope: Construct, id: string, { configuration, rows }: AlarmsProps) {
    super(scope, id);
    this.alarms = Object.entries(rows).map(([name, row]) => this.#addAlarm(name, row, configuration));
  }

  #addAlarm(name: string, row: AlarmRow, configuration: StageConfiguration) {
    const { metric, threshold = 0, comparison = 'above', periods = 1, among = periods } = row.rule;
    return new cloudwatch.Alarm(this, name, {
      alarmDescription: describe(row.section ?? name, urgencyOf(row), row, configuration),
      metric,
      threshold,
      evaluationPeriods: among,
      datapointsToAlarm: periods,
      ...comparisons[comparison],
    });
  }
}

/** Returns what the descriptions of a stage's alarms of an urgency begin with. */
export function beginningOf(urgency: Urgency, { stage }: Pick<StageConfiguration, 'stage'>): string {
  return `[${urgency}] ${stage} `;
}

/** Returns what a mail says. Quotation marks and line breaks would break its template. */
export function describe(
  section: string,
  urgency: Urgency,
  { harm, command }: Pick<AlarmRow, 'harm' | 'command'>,
  configuration: StageConfiguration,
): string {
  const { stage } = configuration;
  return `${beginningOf(urgency, configuration)}${section}: ${harm} | First: npm run ops -- --stage ${stage} ${command} | Then: docs/runbook.md#${section.toLowerCase()}`;
}

function urgencyOf({ severity, rule, direct = false }: AlarmRow): Urgency {
  if (direct) return 'page: direct';
  return severity === 'page' && rule.comparison === 'below' ? 'page: silence' : severity;
}

const comparisons = {
  above: {
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
    treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
  },
  below: {
    comparisonOperator: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
    treatMissingData: cloudwatch.TreatMissingData.BREACHING,
  },
};
