import { globSync } from 'node:fs';
import { join } from 'node:path';
import { AssetHashType, DockerImage, type Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct, IConstruct } from 'constructs';
import { metricsNamespace, type StageConfiguration } from '../config.ts';
import { releaseOf } from '../release.ts';
import { retentionOf } from '../stage-props.ts';
import { bundleHandlers, type HandlerBundle, writeBundle } from './bundle.ts';
import type { TableAccess } from './table.ts';

export interface NodeFunctionProps<Environment extends Record<string, string>> {
  readonly configuration: StageConfiguration;
  /** The path of the `*.handler.ts` file, relative to the project's root. */
  readonly entry: string;
  /** The tables and the function's permissions on them, by the environment variables that contain the table names. */
  readonly tables: Readonly<Record<TableVariable<Environment>, TableAccess>>;
  /** The other environment variables of the handler, which declares their type. */
  readonly environment: Omit<Environment, TableVariable<Environment>>;
  readonly timeout: Duration;
  /** The memory size in MiB. CPU increases with memory, and 1,769 MiB provide one full vCPU. */
  readonly memorySize: number;
  /** @default - the function shares the account's unreserved concurrency */
  readonly reservedConcurrentExecutions?: number | undefined;
  /** Set `ALLOW` if the function sends to its own queue. By default, Lambda stops such a loop after about 16 invocations. */
  readonly recursiveLoop?: lambda.RecursiveLoop | undefined;
}

/** The environment variables that contain table names. */
type TableVariable<Environment> = Extract<keyof Environment, `${string}_TABLE`>;

/**
 * A Lambda function with Node.js 24 on arm64, an ES module bundle that includes the SDK, JSON logs in its own log group, and its own role.
 * The role may write to the log group and use the tables in `tables`. The constructs of other resources grant further permissions.
 */
export class NodeFunction<Environment extends Record<string, string> = Record<string, string>> extends lambda.Function {
  readonly entry: string;
  readonly variables: Readonly<Record<string, string>>;
  #live: lambda.Alias | undefined;

  constructor(scope: Construct, id: string, props: NodeFunctionProps<Environment>) {
    const { logRetention: retention, removalPolicy } = retentionOf(props.configuration);
    const logGroup = new logs.LogGroup(scope, `${id}Logs`, { retention, removalPolicy });
    const role = new iam.Role(scope, `${id}Role`, {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
      path: rolePath(scope, props.configuration),
    });
    logGroup.grantWrite(role);
    const tables = Object.entries<TableAccess>(props.tables);
    const tableNames = Object.fromEntries(tables.map(([variable, { table }]) => [variable, table.tableName]));
    const variables = { ...tableNames, ...props.environment };
    const release = releaseOf(scope);
    super(scope, id, {
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      handler: 'index.handler',
      description: describe(id, props.configuration),
      code: bundle(scope.node.root, props.entry),
      role,
      logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      systemLogLevelV2: lambda.SystemLogLevel.WARN, // omits the start and end of successful invocations
      environment: {
        LOG_LEVEL: 'INFO',
        METRICS_NAMESPACE: metricsNamespace(props.configuration),
        RELEASE: release, // changes with each release, because Lambda publishes no version of an unchanged function
        ...variables,
      },
      currentVersionOptions: {
        description: release, // `ops rollback` finds the versions of a release by this description
        removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE, // versions are deleted with their function
      },
      timeout: props.timeout,
      memorySize: props.memorySize,
      ...(props.reservedConcurrentExecutions
        ? { reservedConcurrentExecutions: props.reservedConcurrentExecutions }
        : {}),
      ...(props.recursiveLoop ? { recursiveLoop: props.recursiveLoop } : {}),
    });
    this.entry = props.entry;
    this.variables = variables;
    for (const [, access] of tables) access.grant(this);
  }

  /**
   * The alias that gateways, queues and schedules invoke. It points to the version of the latest successful deployment, or of the release
   * that the operator chose with `ops rollback`. Each release publishes a version of every function with an alias.
   */
  get live(): lambda.Alias {
    this.#live ??= new lambda.Alias(this, 'Live', { aliasName: 'live', version: this.currentVersion });
    return this.#live;
  }
}

/** Returns the path of a role. Roles are global, so preflight uses the path to detect a stage of the same name in another Region. */
function rolePath(scope: Construct, { stage }: StageConfiguration): string {
  return `/emissor/${stage}/${Stack.of(scope).region}/`;
}

/**
 * Returns the description of a function. It includes the stage's account and Region, because they change the hash in the logical id of a
 * version. Lambda does not publish a version of an unchanged function, so the description must change with the hash.
 */
function describe(id: string, { stage, account, region }: StageConfiguration): string {
  return `Emissor ${stage}: ${id}${account ? ` (${account}, ${region})` : ''}`;
}

/** Bundles a handler in this process, because the CDK's own Node.js construct starts a package manager for each function. */
function bundle(app: IConstruct, entry: string): lambda.Code {
  return lambda.Code.fromAsset(join(root, 'lambdas'), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      image: DockerImage.fromRegistry('none'), // required by the type, but unused, because local bundling always succeeds
      command: [entry], // part of the key in the CDK's cache of bundles
      local: {
        tryBundle: directory => {
          writeBundle(bundleOf(app, entry), directory);
          return true;
        },
      },
    },
  });
}

/** Returns the bundle of one handler. The first call creates the bundles of all handlers. */
function bundleOf(app: IConstruct, entry: string): HandlerBundle | undefined {
  const bundles = bundlesByApp.get(app) ?? bundleHandlers(globSync('lambdas/**/*.handler.ts', { cwd: root }));
  bundlesByApp.set(app, bundles);
  return bundles.get(entry);
}

const bundlesByApp = new WeakMap<IConstruct, ReadonlyMap<string, HandlerBundle>>();

const root = join(import.meta.dirname, '../..');
