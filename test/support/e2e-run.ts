import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  CloudWatchLogsClient,
  DescribeLogGroupsCommand,
  GetQueryResultsCommand,
  StartQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import type { TestProject } from 'vitest/node';
import { spawnLocalRun } from '../../tools/support/local-run.ts';
import type { Run } from './e2e-target.ts';

// The global set-up of the end-to-end suites starts a local run for all of them. These variables select another target.
//   EMISSOR_OUTPUTS=FILE  the outputs of a local run, or of a deployed stage (`cdk deploy --outputs-file`)
//   EMISSOR_HOSTS=FILE    the `--hosts` file of the local run
//   EMISSOR_ATTEMPTS=N    the number of attempts per delivery, if they are one second apart
//   AWS_ENDPOINT_URL=URL  an AWS emulator, for suites that need tables and queues

/**
 * Starts the run under test, or uses an existing one, and provides it to all test files. `e2e-target.ts` waits until the run is ready,
 * because waiting here would delay all projects.
 *
 * @returns a function that stops the run, and throws if the run has logged a planted secret
 */
export function setup(project: TestProject): () => Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-e2e-'));
  const canaryFile = path.join(folder, 'canaries');
  writeFileSync(canaryFile, '');
  const outputsFile = process.env.EMISSOR_OUTPUTS;
  const { stop, ...handle } = outputsFile ? existingRun(outputsFile) : startRun(folder);
  const run: Run = { ...handle, canaryFile };
  project.provide('run', run);

  return async function teardown() {
    await appendLoggedLines(run)
      .finally(stop)
      .finally(() => cleanUp(folder, run, project));
  };
}

/** Appends the log groups of a run to its output, which lacks metrics and some fields. @throws if the run has discarded lines */
async function appendLoggedLines({ outputsFile, logFile }: Run): Promise<void> {
  if (logFile === null || !existsSync(outputsFile)) return;
  const { Region: region, LogsEndpoint: endpoint } = JSON.parse(readFileSync(outputsFile, 'utf8'));
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const client = new CloudWatchLogsClient({ region, endpoint, credentials });
  const { logGroups = [] } = await client.send(new DescribeLogGroupsCommand({ logGroupNamePrefix: 'Emissor-' }));
  const [start, ...others] = logGroups.map(({ creationTime }) => creationTime);
  if (others.length === 0 || others.some(time => time !== start)) throw new Error('The run has discarded log lines.');
  const logGroupNames = logGroups.flatMap(({ logGroupName }) => logGroupName ?? []);
  const query = { logGroupNames, startTime: 0, endTime: Math.ceil(Date.now() / 1_000), limit: Number.MAX_SAFE_INTEGER };
  const { queryId } = await client.send(new StartQueryCommand({ ...query, queryString: 'fields @message' }));
  const { results = [] } = await client.send(new GetQueryResultsCommand({ queryId }));
  appendFileSync(logFile, results.map(fields => `${fields.map(({ value }) => value).join(' ')}\n`).join(''));
}

/** Removes the files of a run, or prints its last errors after a failed test. @throws if the run has logged a planted secret */
function cleanUp(folder: string, { canaryFile, logFile }: Run, { vitest }: TestProject): void {
  const log = logFile === null ? '' : readFileSync(logFile, 'utf8');
  const planted = new Set(readFileSync(canaryFile, 'utf8').split('\n').filter(Boolean));
  const isWritten = (secret: string) => log.includes(secret) || log.includes(JSON.stringify(secret).slice(1, -1));
  const leaks = [...planted].filter(isWritten).length;
  if (leaks > 0) throw new Error(`The output of the run contains ${leaks} planted secrets: ${logFile}`);
  if (log === '' || vitest.state.getCountOfFailedTests() === 0) {
    rmSync(folder, { recursive: true, force: true });
    return;
  }
  const errors = log.split('\n').filter(line => line.includes('  ERROR  '));
  process.stderr.write([`\nThe log of the run under test is in ${logFile}`, ...errors.slice(-10), ''].join('\n'));
}

type RunHandle = Omit<Run, 'canaryFile'> & { readonly stop: () => Promise<void> };

function existingRun(outputsFile: string): RunHandle {
  const hostsFile = process.env.EMISSOR_HOSTS;
  return {
    outputsFile: path.resolve(outputsFile),
    hostsFile: hostsFile === undefined ? null : path.resolve(hostsFile),
    logFile: null,
    processId: null,
    attempts: Number(process.env.EMISSOR_ATTEMPTS) || null,
    stop: async () => {},
  };
}

function startRun(folder: string): RunHandle {
  const hostsFile = path.join(folder, 'hosts.json');
  writeFileSync(hostsFile, '{}');
  const options = ['--hosts', hostsFile, '--retry-schedule', retrySchedule, '--set', 'attemptTimeout=2s'];
  const { outputsFile, logFile, processId, end: stop } = spawnLocalRun(folder, ...options);
  return { outputsFile, logFile, processId, hostsFile, attempts: retrySchedule.split(',').length + 1, stop };
}

const retrySchedule = '1s,1s,1s';
