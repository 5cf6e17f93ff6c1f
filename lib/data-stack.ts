import { CfnOutput, Fn, Stack } from 'aws-cdk-lib';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as sns from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { certificateAlarms } from './alarms.ts';
import { Alarms, AlarmTopics } from './constructs/alarms.ts';
import { HttpEndpoint } from './constructs/http-endpoint.ts';
import { Keyring } from './constructs/keyring.ts';
import { SecretParameter } from './constructs/secret-parameter.ts';
import { keysOnlyIndex, Table, type TableProps, text } from './constructs/table.ts';
import { retentionOf, type StageProps } from './stage-props.ts';

/**
 * The resources that outlive the code: the tables, the KMS key that wraps the keyring, the audit trail, the topics for operators, and
 * the two HTTP APIs.
 */
export class DataStack extends Stack {
  readonly clients: Table;
  readonly users: Table;
  /** The password hashes. They are not in the table of users, because only the token function may read them. */
  readonly credentials: Table;
  readonly sessions: Table;
  readonly lockouts: Table;
  readonly webhooks: Table;
  readonly deliveries: Table;
  readonly keyring: Keyring;
  /**
   * The parameter with the client and user for smoke tests. It outlives the stage. Its name contains the id of the stage's key, so a
   * recreated stage uses a new parameter.
   */
  readonly smokeCredentials: SecretParameter;
  readonly alarmTopics: AlarmTopics;
  /** The topic for notices about webhooks. Programs subscribe to it. */
  readonly operations: sns.Topic;
  /** The API of {auth_url}. */
  readonly auth: HttpEndpoint;
  /** The API of {base_url}. */
  readonly base: HttpEndpoint;

  constructor(scope: Construct, id: string, props: StageProps) {
    super(scope, id, props);
    const { configuration } = props;
    const { removalPolicy } = retentionOf(configuration);

    const retention = { removalPolicy, deletionProtection: configuration.protection };
    const table = (name: string, keys: Omit<TableProps, keyof typeof retention>): Table =>
      new Table(this, name, { ...keys, ...retention });
    this.clients = table('Clients', { partitionKey: text('clientId') });
    this.users = table('Users', { partitionKey: text('userId') });
    this.credentials = table('Credentials', { partitionKey: text('email') });
    this.sessions = table('Sessions', {
      partitionKey: text('userId'),
      sortKey: text('sessionId'),
      globalSecondaryIndexes: [keysOnlyIndex('byClient', 'clientId', 'sessionId')],
    });
    this.lockouts = table('Lockouts', { partitionKey: text('pk'), sortKey: text('sk') });
    this.webhooks = table('Webhooks', {
      partitionKey: text('accountId'),
      sortKey: text('eventName'),
      globalSecondaryIndexes: [keysOnlyIndex('announcements', 'announcementShard', 'announcementAt')],
    });
    this.deliveries = table('Deliveries', {
      partitionKey: text('id'),
      sortKey: text('part'),
      globalSecondaryIndexes: [
        keysOnlyIndex('due', 'dueShard', 'dueAt'),
        keysOnlyIndex('byWebhook', 'listShard', 'listKey'),
        keysOnlyIndex('undelivered', 'stateShard', 'listKey'),
      ],
    });

    const key = new kms.Key(this, 'Key', {
      description: `Emissor ${configuration.stage}: encrypts signing, MAC and encryption keys`,
      enableKeyRotation: true,
      multiRegion: true, // permanent; only a multi-Region key can have a replica that decrypts the keyring in another Region
      removalPolicy,
    });
    this.keyring = new Keyring(this, 'Keyring', { key, ...retention });
    const keyId = Fn.select(1, Fn.split('/', key.keyArn)); // from the ARN, because the smoke stack imports the ARN anyway
    this.smokeCredentials = new SecretParameter(this, 'SmokeCredentials', {
      parameterName: `/emissor/${configuration.stage}/smoke/${keyId}/credentials`,
      key,
    });

    const displayName = `Emissor ${configuration.stage} operations`;
    this.operations = new sns.Topic(this, 'Operations', { displayName, enforceSSL: true });
    this.alarmTopics = new AlarmTopics(this, configuration);
    new Alarms(this, 'Alarms', { configuration, topics: this.alarmTopics, rows: certificateAlarms(configuration) });

    const { authDomain, baseDomain } = configuration;
    this.auth = new HttpEndpoint(this, 'AuthEndpoint', { configuration, area: 'auth', domain: authDomain });
    this.base = new HttpEndpoint(this, 'BaseEndpoint', { configuration, area: 'webhooks', domain: baseDomain });

    for (const { node, tableName } of this.node.children.filter(child => child instanceof Table)) {
      new CfnOutput(this, `${node.id}Table`, { value: tableName });
    }
    new CfnOutput(this, 'AuthUrl', { value: this.auth.url });
    new CfnOutput(this, 'BaseUrl', { value: this.base.url });
    this.#addDomainOutputs('Auth', this.auth);
    this.#addDomainOutputs('Base', this.base);
    new CfnOutput(this, 'OperationsTopicArn', { value: this.operations.topicArn });
    new CfnOutput(this, 'PagesTopicArn', { value: this.alarmTopics.page.topicArn });
    new CfnOutput(this, 'TicketsTopicArn', { value: this.alarmTopics.ticket.topicArn });
    new CfnOutput(this, 'KeyArn', { value: key.keyArn });
    if (configuration.stage !== 'local') {
      new CfnOutput(this, 'SmokeCredentialsParameter', { value: this.smokeCredentials.parameterName });
    }
    // Only the operators' command line writes to the audit trail.
    const auditTrail = new logs.LogGroup(this, 'AuditLogs', {
      retention: logs.RetentionDays.THIRTEEN_MONTHS,
      deletionProtectionEnabled: configuration.protection,
      removalPolicy,
    });
    const accessLogs = [this.auth, this.base].map(({ accessLogs: { logGroupName } }) => logGroupName);
    new CfnOutput(this, 'AccessLogGroups', { value: accessLogs.join(',') });
    new CfnOutput(this, 'AuditLogGroup', { value: auditTrail.logGroupName });
  }

  /** Adds the outputs for a domain's DNS record: a CNAME record for the target, or an alias record with its hosted zone. */
  #addDomainOutputs(name: string, { customDomain }: HttpEndpoint): void {
    if (!customDomain) return;
    new CfnOutput(this, `${name}DomainTarget`, { value: customDomain.regionalDomainName });
    new CfnOutput(this, `${name}DomainHostedZoneId`, { value: customDomain.regionalHostedZoneId });
  }
}
