import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type AlarmRows, authAlarms, deliveryAlarms, ownMetric, webhooksAlarms } from './alarms.ts';
import type { StageConfiguration } from './config.ts';
import type { HttpEndpoint } from './constructs/http-endpoint.ts';
import type { DeadLetterQueue, WorkQueue } from './constructs/work-queue.ts';
import { savedQueries } from './saved-queries.ts';

export interface StageDashboardProps {
  readonly configuration: StageConfiguration;
  readonly auth: HttpEndpoint;
  readonly base: HttpEndpoint;
  readonly queues: Readonly<Record<'events' | 'retries' | 'slow', WorkQueue>>;
  readonly deadLetters: DeadLetterQueue;
  /** The log groups of the functions that attempt deliveries. */
  readonly deliveryLogs: readonly logs.ILogGroup[];
}

/**
 * The dashboard of a stage. Each row shows the counts for one part of the service, next to graphs of the alarms' metrics and thresholds.
 * Stages without customers have no dashboard, because it would double their cost.
 */
export class StageDashboard extends Construct {
  readonly #props: StageDashboardProps;

  constructor(scope: Construct, id: string, props: StageDashboardProps) {
    super(scope, id);
    this.#props = props;
    const { configuration, auth, base, queues, deadLetters } = props;
    const dashboard = new cloudwatch.Dashboard(this, 'Dashboard', {
      dashboardName: `Emissor-${configuration.stage}`,
      defaultInterval: Duration.days(1),
      periodOverride: cloudwatch.PeriodOverride.AUTO,
    });
    dashboard.addWidgets(this.#tokens(), ...alarmGraphs(authAlarms(configuration, props)));
    dashboard.addWidgets(this.#requests(auth, base), ...alarmGraphs(webhooksAlarms(configuration)));
    dashboard.addWidgets(
      this.#events(),
      this.#waiting(),
      ...alarmGraphs(deliveryAlarms(configuration, { events: queues.events, deadLetters })),
    );
    dashboard.addWidgets(this.#failing());
  }

  #tokens() {
    return graph('Tokens', [
      this.#metric('TokenIssued', 'token', 'logins'),
      this.#metric('TokenRefreshed', 'token', 'refreshes'),
      this.#metric('InvalidGrant', 'token', 'rejected'),
    ]);
  }

  #requests(auth: HttpEndpoint, base: HttpEndpoint) {
    const count = ({ api }: HttpEndpoint, label: string) => api.metricCount({ label, period: fiveMinutes });
    return graph('Requests', [count(auth, '{auth_url}'), count(base, '{base_url}')]);
  }

  #events() {
    const { queues } = this.#props;
    return graph('Events in and out', [
      queues.events.metricNumberOfMessagesSent({ label: 'published', statistic: 'Sum', period: fiveMinutes }),
      this.#metric('Delivered', 'delivery', 'attempts', 'SampleCount'),
      this.#metric('Delivered', 'delivery', 'delivered'),
    ]);
  }

  #waiting() {
    const depth = ([label, queue]: [string, WorkQueue | DeadLetterQueue]) =>
      queue.metricApproximateNumberOfMessagesVisible({ label, statistic: 'Maximum', period: fiveMinutes });
    return graph(
      'Waiting messages',
      Object.entries({ ...this.#props.queues, 'dead-letter queue': this.#props.deadLetters }).map(depth),
    );
  }

  #failing() {
    const query = savedQueries.delivery['failed attempts by receiver'] ?? {};
    return new cloudwatch.LogQueryWidget({
      title: 'Failed attempts by receiver',
      logGroupNames: this.#props.deliveryLogs.map(({ logGroupName }) => logGroupName),
      queryString: new logs.QueryString({ ...query, limit: 20 }).toString(),
      width: 12,
      height: 6,
    });
  }

  #metric(metricName: string, service: string, label = metricName, statistic = 'Sum') {
    const metric = ownMetric(this.#props.configuration, metricName, { service });
    return metric.with({ label, statistic, period: fiveMinutes });
  }
}

/** Returns a graph for each alarm, with its metric and its threshold. */
function alarmGraphs(rows: AlarmRows): readonly cloudwatch.IWidget[] {
  return Object.entries(rows).map(([name, { severity, rule }]) =>
    graph(`${name} (${severity})`, [rule.metric], [{ value: rule.threshold ?? 0, label: 'alarm' }]),
  );
}

function graph(title: string, left: cloudwatch.IMetric[], leftAnnotations: cloudwatch.HorizontalAnnotation[] = []) {
  return new cloudwatch.GraphWidget({ title, left, leftAnnotations, width: 6, height: 6 });
}

const fiveMinutes = Duration.minutes(5);
