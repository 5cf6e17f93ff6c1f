import { CloudWatchClient, GetMetricDataCommand } from '@aws-sdk/client-cloudwatch';
import { DescribeKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import { isUnread, type Part } from '../stage/operator.ts';
import { counted, tableOrIndexName } from '../stage/sentences.ts';
import { domainsOf } from '../stage/stage-stacks.ts';
import { requireOutput, type Target } from '../stage/target.ts';

/** The calls to a table or an index that DynamoDB throttled in the last 15 minutes. */
export interface ThrottledCalls {
  readonly table: string;
  readonly index: string | null;
  readonly calls: 'reads' | 'writes';
  readonly count: number;
  /** The cause, or `null` if DynamoDB reported none. */
  readonly cause: 'hot key' | 'quota' | null;
}

/** The KMS key of the stage, which encrypts the keyring. */
export interface KmsKey {
  readonly arn: string;
  /** `Enabled`, or another KMS state. */
  readonly state: string;
  /** The time at which AWS deletes the key. */
  readonly deletedAt: string | null;
}

export interface Certificate {
  readonly host: string;
  /** `ISSUED`, or another ACM state. */
  readonly state: string;
  readonly endsAt: string | null;
  readonly daysLeft: number | null;
}

/** Reads the number of throttled calls for each table and index. CloudWatch reports them with a delay of a few minutes. */
export async function readThrottles(
  target: Target,
  tables: readonly { readonly name: string; readonly indexes: readonly string[] }[],
): Promise<readonly ThrottledCalls[]> {
  const metrics = tables.flatMap(({ name: table, indexes }) =>
    [null, ...indexes].flatMap(index => throttleMetrics.map(metric => ({ table, index, ...metric }))),
  );
  if (metrics.length === 0) return [];
  const now = target.clock.now();
  const { MetricDataResults = [] } = await target.connect(CloudWatchClient).send(
    new GetMetricDataCommand({
      StartTime: new Date(now - throttleWindow),
      EndTime: new Date(now),
      MetricDataQueries: metrics.map(({ table, index, MetricName }, at) => ({
        Id: `m${at}`,
        MetricStat: {
          Metric: {
            Namespace: 'AWS/DynamoDB',
            MetricName,
            Dimensions: [
              { Name: 'TableName', Value: table },
              ...(index === null ? [] : [{ Name: 'GlobalSecondaryIndexName', Value: index }]),
            ],
          },
          Period: 300,
          Stat: 'Sum',
        },
      })),
    }),
  );
  const counts = metrics.map((_, at) => sum(MetricDataResults.find(({ Id }) => Id === `m${at}`)?.Values));
  return metrics.flatMap(({ table, index, calls, cause }, at) => {
    const count = counts[at] ?? 0;
    // In `throttleMetrics`, the metric for all throttled calls follows the metrics for the two causes.
    const isReported = cause === null && ((counts[at - 1] ?? 0) > 0 || (counts[at - 2] ?? 0) > 0);
    return count > 0 && !isReported ? [{ table, index, calls, count, cause }] : [];
  });
}

/** Reads the state of the KMS key. Returns `null` for a local run. */
export async function readKmsKey(target: Target): Promise<KmsKey | null> {
  if (!target.deployed) return null;
  const arn = requireOutput(target, 'KeyArn');
  const { KeyMetadata } = await target.connect(KMSClient).send(new DescribeKeyCommand({ KeyId: arn }));
  const { KeyState: state = 'unknown', DeletionDate: deletedAt } = KeyMetadata ?? {};
  return { arn, state, deletedAt: deletedAt?.toISOString() ?? null };
}

/** Reads the certificates of the hosts in the stage's file. */
export async function readCertificates({ deployed, connect, clock }: Target): Promise<readonly Certificate[]> {
  const domains = deployed ? domainsOf(deployed.configuration) : [];
  if (domains.length === 0) return [];
  const { ACMClient, DescribeCertificateCommand } = await import('@aws-sdk/client-acm');
  return Promise.all(
    domains.map(async ({ name: host, certificateArn: CertificateArn }) => {
      const command = new DescribeCertificateCommand({ CertificateArn });
      const { Status: state = 'unknown', NotAfter: end } = (await connect(ACMClient).send(command)).Certificate ?? {};
      const daysLeft = end ? Math.floor((end.getTime() - clock.now()) / day) : null;
      return { host, state, endsAt: end?.toISOString() ?? null, daysLeft };
    }),
  );
}

/** Finds resources that AWS throttles, will delete or does not renew. Returns a sentence with advice about each. */
export function awsProblems({
  throttles,
  kmsKey,
  certificates,
  region,
}: {
  readonly throttles: Part<readonly ThrottledCalls[]>;
  readonly kmsKey: Part<KmsKey | null>;
  readonly certificates: Part<readonly Certificate[]>;
  readonly region: string | null;
}): readonly string[] {
  return [
    ...(kmsKey === null || isUnread(kmsKey) || kmsKey.state === 'Enabled' ? [] : [keyProblem(kmsKey, region)]),
    ...(isUnread(throttles) ? [] : throttles.map(throttledCallsProblem)),
    ...(isUnread(certificates) ? [] : certificates.filter(isEnding).map(certificateProblem)),
  ];
}

function keyProblem({ arn, state, deletedAt }: KmsKey, region: string | null): string {
  const on = `--region ${region} --key-id ${arn}`;
  const day = deletedAt === null ? '' : `, to be deleted on ${deletedAt.slice(0, 10)}`;
  const commands: Readonly<Record<string, string>> = {
    PendingDeletion: ` Run "aws kms cancel-key-deletion ${on}", then "aws kms enable-key ${on}".`,
    Disabled: ` Run "aws kms enable-key ${on}".`,
  };
  return `the KMS key is ${state}${day}. Without it, Emissor cannot issue tokens or read secrets.${commands[state] ?? ''} See docs/runbook.md, "KeysNotRotated".`;
}

function throttledCallsProblem(throttle: ThrottledCalls): string {
  const { calls, count, cause } = throttle;
  const why = cause === null ? '' : `, because of a ${cause}`;
  return `DynamoDB throttled ${counted(count, calls.slice(0, -1))} ${calls === 'reads' ? 'from' : 'to'} ${tableOrIndexName(throttle)} in the last 15 minutes${why}. See docs/runbook.md, "StoreThrottled".`;
}

function certificateProblem({ host, state, endsAt, daysLeft }: Certificate): string {
  const on = endsAt?.slice(0, 10);
  const days = daysLeft ?? 0;
  const end = days < 0 ? `, and expired on ${on}` : `, and expires on ${on}, in ${counted(days, 'day')}`;
  return `the certificate of ${host} is ${state}${on === undefined ? '' : end}. See docs/runbook.md, "CertificateExpires".`;
}

/** Returns whether a certificate is not issued, or overdue for renewal. ACM renews certificates at least 45 days early. */
function isEnding({ state, daysLeft }: Certificate): boolean {
  return state !== 'ISSUED' || (daysLeft ?? 0) <= 30;
}

function sum(values: readonly number[] = []): number {
  return values.reduce((total, value) => total + value, 0);
}

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TroubleshootingThrottling-cloudwatch.html */
const throttleMetrics = (['Read', 'Write'] as const).flatMap(kind => {
  const calls = kind === 'Read' ? 'reads' : 'writes';
  return [
    { calls, cause: 'hot key', MetricName: `${kind}KeyRangeThroughputThrottleEvents` },
    { calls, cause: 'quota', MetricName: `${kind}AccountLimitThrottleEvents` },
    { calls, cause: null, MetricName: `${kind}ThrottleEvents` },
  ] as const;
});

const throttleWindow = 15 * 60_000;
const day = 86_400_000;
