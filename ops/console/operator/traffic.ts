import { CloudWatchClient, GetMetricDataCommand } from '@aws-sdk/client-cloudwatch';
import { isTest } from '../../../lambdas/delivery/delivery.ts';
import { isoTime } from '../../../lambdas/platform/clock.ts';
import { metricsNamespace } from '../../../lib/config.ts';
import { openEventLog } from '../../stage/cloudwatch.ts';
import { CliError, describeError, type Part } from '../../stage/operator.ts';
import type { Target } from '../../stage/target.ts';

/** The deliveries of a whole stage that ended, by the hour: the first of the 24 hours comes first, and the last one is not over yet. */
export interface Traffic {
  /** When each hour begins. */
  readonly hours: readonly string[];
  readonly delivered: readonly number[];
  readonly failed: readonly number[];
  readonly held: readonly number[];
  /** True where a local run wrote more lines than are read: the hours are those that were. */
  readonly isCutOff: boolean;
}

/**
 * Makes the reader of what became of deliveries: by CloudWatch's metrics on a stage, by the log of the functions on the local run,
 * where nothing collects metrics. CloudWatch is paid for each metric that is asked for: its answer is kept for five minutes.
 */
export function makeReadTraffic(target: Target): () => Promise<Part<Traffic>> {
  const { now } = target.clock;
  let kept: { readonly at: number; readonly traffic: Promise<Traffic> } | undefined;
  return async function readTraffic() {
    if (!kept || now() - kept.at > (target.deployed ? keptFor : keptLocally)) kept = { at: now(), traffic: read() };
    try {
      return await kept.traffic;
    } catch (error) {
      kept = undefined;
      return { unread: describeError(error, target.unreachable) };
    }
  };

  async function read(): Promise<Traffic> {
    if (target.deployed) return readMetrics(target, target.deployed.configuration);
    if (target.outputs.LogsEndpoint === undefined)
      throw new CliError(`${target.label} names no stage whose metrics could be read.`);
    return readLog(target);
  }
}

async function readMetrics(target: Target, configuration: Parameters<typeof metricsNamespace>[0]): Promise<Traffic> {
  const hours = hoursUntil(target.clock.now());
  const { MetricDataResults = [] } = await target.connect(CloudWatchClient).send(
    new GetMetricDataCommand({
      StartTime: new Date(hours[0] ?? 0),
      EndTime: new Date((hours.at(-1) ?? 0) + hour),
      MetricDataQueries: metrics.map(({ MetricName, service }, at) => ({
        Id: `m${at}`,
        MetricStat: {
          Metric: {
            Namespace: metricsNamespace(configuration),
            MetricName,
            Dimensions: [{ Name: 'service', Value: service }],
          },
          Period: hour / 1_000,
          Stat: 'Sum',
        },
      })),
    }),
  );
  const found = metrics.flatMap(({ end }, at) => {
    const { Timestamps = [], Values = [], StatusCode } = MetricDataResults.find(({ Id }) => Id === `m${at}`) ?? {};
    // A metric that nobody wrote is complete, and has no values: another state means that there are some.
    if (StatusCode !== 'Complete') throw new CliError(`CloudWatch tells only a part: ${StatusCode ?? 'no answer'}.`);
    return Timestamps.map((time, index) => ({ end, at: time.getTime(), count: Values[index] ?? 0 }));
  });
  return trafficOf(found, hours, false);
}

async function readLog(target: Target): Promise<Traffic> {
  const hours = hoursUntil(target.clock.now());
  const message = ['delivery.attempt', ...Object.keys(endedUnattempted)];
  const lines = await openEventLog(target).filter({ message }, hours[0] ?? 0, mostLines, () => {});
  const found = lines.flatMap(({ at, fields }) => {
    const end = ends.find(known => known === (endedUnattempted[String(fields.message)] ?? fields.state));
    return end && !isTest({ id: String(fields.deliveryId) }) ? { end, at, count: 1 } : [];
  });
  if (lines.length < mostLines) return trafficOf(found, hours, false);
  // The newest come first: of the hours before the last of them nothing is known.
  const reached = lines.at(-1)?.at ?? 0;
  return trafficOf(
    found,
    hours.filter(from => from + hour > reached),
    true,
  );
}

function trafficOf(
  found: readonly { readonly end: End; readonly at: number; readonly count: number }[],
  hours: readonly number[],
  isCutOff: boolean,
): Traffic {
  const countsOf = (wanted: End) =>
    hours.map(from => {
      const within = found.filter(({ end, at }) => end === wanted && at >= from && at < from + hour);
      return within.reduce((sum, { count }) => sum + count, 0);
    });
  const [delivered, failed, held] = [countsOf('delivered'), countsOf('failed'), countsOf('held')];
  return { hours: hours.map(isoTime), delivered, failed, held, isCutOff };
}

/** Returns when the last 24 hours of the clock began. */
function hoursUntil(now: number): readonly number[] {
  const last = now - (now % hour);
  return Array.from({ length: 24 }, (_, at) => last - (23 - at) * hour);
}

type End = (typeof ends)[number];

const ends = ['delivered', 'failed', 'held'] as const;

/** The metrics that functions write of deliveries that ended; the sweeper ends some itself. See `lambdas/delivery/telemetry.ts`. */
const metrics = [
  { end: 'delivered', MetricName: 'Delivered', service: 'delivery' },
  { end: 'failed', MetricName: 'Exhausted', service: 'delivery' },
  { end: 'failed', MetricName: 'Exhausted', service: 'sweep' },
  { end: 'held', MetricName: 'Held', service: 'delivery' },
  { end: 'held', MetricName: 'Held', service: 'sweep' },
] as const;

/** The lines of deliveries that ended without an attempt. */
const endedUnattempted: Readonly<Record<string, End>> = { 'delivery.held': 'held', 'delivery.too_old': 'failed' };

const hour = 3_600_000;

/** Milliseconds. */
const keptFor = 5 * 60_000;

/** The log of a local run costs nothing, but each look at it reads all of its lines. Milliseconds. */
const keptLocally = 10_000;

/** The most lines of a local run's log that are read. */
const mostLines = 10_000;
