import { ACMClient, DescribeCertificateCommand } from '@aws-sdk/client-acm';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { IAMClient, ListRolesCommand } from '@aws-sdk/client-iam';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { minOtherLanes, unreservedConcurrency } from '../../lib/account-concurrency.ts';
import { hasCustomers } from '../../lib/config.ts';
import { adviceOn, blocksDeployment, isChanging, isDeployed } from '../deployment/stack-states.ts';
import { CliError, isNamed } from '../stage/operator.ts';
import { listed } from '../stage/sentences.ts';
import {
  domainsOf,
  outputsOfStacks,
  type StackName,
  type StageStacks,
  stackNameOf,
  stackNames,
} from '../stage/stage-stacks.ts';
import type { Target } from '../stage/target.ts';
import { resourcesOf, type Synthesis, type Template } from './synthesis.ts';

/** The input of the checks before a deployment. The checks only read. */
export interface DeploymentSubject {
  readonly target: Pick<Target, 'connect'>;
  readonly deployed: StageStacks;
  /** The templates to deploy. */
  readonly synthesis: Synthesis;
  /** Reads the deployed templates of the stacks, except stacks that are left over. */
  readonly readTemplates: () => Promise<ReadonlyMap<StackName, Template>>;
}

/** A sentence with advice about each problem. */
export type DeploymentProblems = readonly string[] | Promise<readonly string[]>;

/** Finds stacks that CloudFormation cannot update. */
export function stackProblems({ deployed }: DeploymentSubject): readonly string[] {
  return deployed.stacks.filter(blocksDeployment).flatMap(stack => adviceOn(stack, deployed) ?? []);
}

export async function bootstrapProblems({ target, deployed }: DeploymentSubject): Promise<readonly string[]> {
  try {
    await target.connect(SSMClient).send(new GetParameterCommand({ Name: '/cdk-bootstrap/hnb659fds/version' }));
    return [];
  } catch (error) {
    if (!isNamed(error, 'ParameterNotFound')) throw error;
    const { configuration, region, account } = deployed;
    return [
      `${region} of account ${account} has no CDK bootstrap stack. Run: npx cdk bootstrap -c stage=${configuration.stage}`,
    ];
  }
}

/** @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html */
export async function concurrencyProblems(subject: DeploymentSubject): Promise<readonly string[]> {
  const { target, deployed, synthesis, readTemplates } = subject;
  const { stage, accountConcurrency, firstConcurrency, retryConcurrency, slowConcurrency } = deployed.configuration;
  const { AccountLimit } = await target.connect(LambdaClient).send(new GetAccountSettingsCommand({}));
  const { ConcurrentExecutions: quota, UnreservedConcurrentExecutions: unreserved = quota } = AccountLimit ?? {};
  if (quota === undefined || unreserved === undefined) throw new CliError('Lambda returned no concurrency quota.');
  const raise = 'Request a higher quota (Service Quotas, Lambda, quota L-B99A9384; AWS needs about a day)';
  if (quota < accountConcurrency) {
    return [
      `stages/${stage}.ts sets accountConcurrency to ${accountConcurrency}, but the account has a quota of ${quota} concurrent executions. ${raise}, or set accountConcurrency to ${quota} in stages/${stage}.ts.`,
    ];
  }
  const templates = await readTemplates();
  const reserved = reservedBy([...templates.values()]);
  const reservedByOthers = quota - unreserved - reserved;
  const minUnreserved = Math.min(unreservedConcurrency, quota);
  // The CDK deploys one stack after another. Until the last one is deployed, any stack may have the higher of its two values.
  const ofStack = (name: StackName) =>
    [templates.get(name), synthesis.templates[name]].map(template => reservedBy([template ?? {}]));
  const peak = stackNames.reduce((sum, name) => sum + Math.max(...ofStack(name)), 0);
  if (peak > reserved && quota - reservedByOthers - peak < minUnreserved) {
    return [
      `while its stacks are deployed, the stage reserves up to ${peak} of ${quota} concurrent executions, and other functions reserve ${reservedByOthers}. Only ${quota - reservedByOthers - peak} would be left, but AWS requires ${minUnreserved} unreserved. ${raise}, or lower tokenConcurrency in stages/${stage}.ts. To raise one value and lower another, deploy the lower value first.`,
    ];
  }
  const available = quota - reservedByOthers - reservedBy(Object.values(synthesis.templates));
  const lanes = firstConcurrency + retryConcurrency + slowConcurrency;
  if (lanes <= available - minOtherLanes) return [];
  return [
    `the lanes may use ${lanes} of the ${available} unreserved concurrent executions, which leaves too few for the sweeper and for functions without reserved concurrency. ${raise}, or lower accountConcurrency in stages/${stage}.ts.`,
  ];
}

function reservedBy(templates: readonly Template[]): number {
  return templates
    .flatMap(template => resourcesOf(template, 'AWS::Lambda::Function'))
    .reduce((sum, [, { Properties }]) => sum + Number(Properties?.ReservedConcurrentExecutions ?? 0), 0);
}

/** Finds certificates that API Gateway would reject for their domain. */
export async function certificateProblems({ target, deployed }: DeploymentSubject): Promise<readonly string[]> {
  const { configuration, region } = deployed;
  const problems = domainsOf(configuration).map(async ({ name: host, certificateArn: arn }) => {
    const request = `Request a certificate for ${host} in ${region}.`;
    if (arn.split(':')[3] !== region) return [`the certificate of ${host} is not in ${region}. ${request}`];
    const client = target.connect(ACMClient);
    const response = await client.send(new DescribeCertificateCommand({ CertificateArn: arn })).catch(error => {
      if (!isNamed(error, 'ResourceNotFoundException')) throw error;
    });
    if (!response?.Certificate) return [`there is no certificate ${arn}. ${request}`];
    const { Status, DomainName = '', SubjectAlternativeNames = [] } = response.Certificate;
    if (Status === 'PENDING_VALIDATION') {
      return [
        `the certificate of ${host} is not issued yet. Add the DNS records that AWS Certificate Manager shows for it.`,
      ];
    }
    if (Status !== 'ISSUED') return [`the certificate of ${host} is ${Status}. ${request}`];
    const names = [...new Set([DomainName, ...SubjectAlternativeNames])];
    if (names.some(name => covers(name, host))) return [];
    return [`the certificate of ${host} is for ${listed(names)}. ${request}`];
  });
  return (await Promise.all(problems)).flat();
}

/** Returns whether a certificate name covers a host. The name may have a wildcard label (RFC 6125 section 6.4.3). */
function covers(name: string, host: string): boolean {
  const lower = name.toLowerCase();
  return lower === host || (lower.startsWith('*.') && lower.slice(1) === host.slice(host.indexOf('.')));
}

/** Finds missing and changed domains. A later change replaces all URLs and invalidates all access tokens. */
export function domainProblems({ deployed: { configuration, stacks } }: DeploymentSubject): readonly string[] {
  const { stage } = configuration;
  const outputs = outputsOfStacks(stacks);
  const missing = apis.filter(({ key }) => configuration[key] === undefined).map(({ key }) => key);
  const changed = apis.filter(({ api, key }) => {
    const url = outputs[`${api}Url`];
    const deployed = outputs[`${api}DomainTarget`] === undefined ? undefined : url;
    return url !== undefined && deployed !== (configuration[key] && `https://${configuration[key].name}`);
  });
  return [
    ...(hasCustomers(configuration) && missing.length > 0
      ? [
          `stages/${stage}.ts does not set ${listed(missing)}. Set domains before the first integrator connects, because a later change changes the URLs and invalidates all access tokens.`,
        ]
      : []),
    ...changed.map(
      ({ key }) =>
        `the deployment changes the URL of ${key}. The stage will then reject all existing access tokens, and integrators will still call the old URL. Restore ${key} in stages/${stage}.ts, unless the stage has no integrators yet.`,
    ),
  ];
}

const apis = [
  { api: 'Auth', key: 'authDomain' },
  { api: 'Base', key: 'baseDomain' },
] as const;

/** Finds a protected data stack before its first deployment. If that deployment fails, the stack cannot be deleted. */
export function protectionProblems({ deployed: { configuration, stacks } }: DeploymentSubject): readonly string[] {
  const { stage, protection } = configuration;
  const data = stacks.find(({ name }) => name === 'Data');
  if (!protection || !data || isDeployed(data)) return [];
  return [
    `protection is on before the first deployment of ${data.stackName}. If the deployment fails, CloudFormation cannot delete the stack. Set protection: false in stages/${stage}.ts and deploy. Then set protection: true and deploy again.`,
  ];
}

/** Finds a stage that belongs to another owner. Two people who use the same stage name would overwrite each other's deployments. */
export function ownerProblems({ deployed: { configuration, stacks } }: DeploymentSubject): readonly string[] {
  const { stage, tags } = configuration;
  const { owner } = tags;
  const owners = stacks.flatMap(({ found }) => found?.Tags?.find(({ Key }) => Key === 'owner')?.Value ?? []);
  const other = owners.find(value => value !== owner);
  if (other === undefined) return [];
  return [
    `stage ${stage} in this account belongs to ${other}, but the owner in stages/${stage}.ts is ${owner ?? 'not set'}. Copy stages/${stage}.ts to a stage with another name, or deploy the stage if only its owner has changed.`,
  ];
}

/** Finds the stage in other Regions. The roles of functions are visible in all Regions and have the Region in their path. */
export async function otherRegionProblems({ target, deployed }: DeploymentSubject): Promise<readonly string[]> {
  const { configuration, region } = deployed;
  const command = new ListRolesCommand({ PathPrefix: `/emissor/${configuration.stage}/`, MaxItems: 1_000 });
  const { Roles = [] } = await target.connect(IAMClient).send(command);
  const regions = new Set(Roles.map(({ Path = '' }) => Path.split('/')[3] ?? '').filter(value => value !== region));
  if (regions.size === 0) return [];
  return [
    `stage ${configuration.stage} is already deployed in ${listed([...regions])} of this account. Copy stages/${configuration.stage}.ts to a stage with another name, or delete the other deployment first.`,
  ];
}

/** Finds remaining data from an earlier stage with the same name. The new stage would start without the data. */
export async function retainedResourceProblems({ target, deployed }: DeploymentSubject): Promise<readonly string[]> {
  const { configuration, region, stacks } = deployed;
  const { stage, removalPolicy } = configuration;
  if (removalPolicy === 'destroy' || stacks.some(isDeployed) || stacks.some(isChanging)) return [];
  const prefixes = (['Data', 'Delivery'] as const).map(name => `${stackNameOf(stage, name)}-`);
  const names = prefixes.map(async prefix => {
    const [{ TableNames = [] }, { QueueUrls = [] }] = await Promise.all([
      target.connect(DynamoDBClient).send(new ListTablesCommand({ ExclusiveStartTableName: prefix })),
      target.connect(SQSClient).send(new ListQueuesCommand({ QueueNamePrefix: prefix })),
    ]);
    const queues = QueueUrls.map(url => url.slice(url.lastIndexOf('/') + 1));
    return [...TableNames.filter(name => name.startsWith(prefix)), ...queues];
  });
  const ownNames = Object.values(outputsOfStacks(stacks));
  const retained = (await Promise.all(names)).flat().filter(name => !ownNames.includes(name));
  if (retained.length === 0) return [];
  return [
    `${retained.length} tables and queues from an earlier deployment remain (${retained[0]}${retained.length > 1 ? ', …' : ''}), and the stage would start without their data. If you need the data, do not deploy. See docs/runbook.md, "Restoring". Otherwise, delete them and the KMS key with the description "Emissor ${stage}: …" in ${region}.`,
  ];
}

/** Finds tables, queues and keys that the deployment would remove from a stage that retains its data. */
export async function removedDataProblems(subject: DeploymentSubject): Promise<readonly string[]> {
  const { deployed, synthesis, readTemplates } = subject;
  const { stage, removalPolicy } = deployed.configuration;
  if (removalPolicy === 'destroy') return [];
  const removed = [...(await readTemplates())].flatMap(([name, template]) => {
    const next = synthesis.templates[name] ?? {};
    const retained = resourcesOf(next, ...statefulTypes).map(([id]) => id);
    return resourcesOf(template, ...statefulTypes).flatMap(([id]) =>
      retained.includes(id) ? [] : `${id} of ${stackNameOf(stage, name)}`,
    );
  });
  if (removed.length === 0) return [];
  return [
    `the deployment would remove ${listed(removed)}. "npx cdk diff --all -c stage=${stage}" shows the change. Do not remove resources with data.`,
  ];
}

const statefulTypes = ['AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable', 'AWS::KMS::Key', 'AWS::SQS::Queue'];
