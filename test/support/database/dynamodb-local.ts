import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestProject } from 'vitest/node';
import { listen } from '../../../tools/support/listen.ts';
import { cachedFolder } from '../cached-folder.ts';

// The global set-up of the unit tests selects their DynamoDB engine.
//   EMISSOR_DYNAMODB=memory          (default) the emulator in packages/cloud, in the process of each test file
//   EMISSOR_DYNAMODB=dynamodb-local  one DynamoDB Local for all files. It requires Linux on x86-64, Java 17 and Maven.

/** Starts DynamoDB Local if it is selected, and provides its endpoint to all test files. */
export async function setup(project: TestProject): Promise<void> {
  const engine = process.env.EMISSOR_DYNAMODB || 'memory';
  if (engine !== 'memory' && engine !== 'dynamodb-local') {
    throw new Error(`EMISSOR_DYNAMODB is ${engine}. Set it to memory or dynamodb-local.`);
  }
  project.provide('dynamoDbLocal', engine === 'memory' ? null : await startDynamoDbLocal());
}

/**
 * Starts DynamoDB Local and returns its endpoint on 127.0.0.1. DynamoDB Local always listens on all addresses, so it runs in a network
 * namespace. A socket on 127.0.0.1 forwards connections to the namespace, which ends with this process.
 *
 * @throws if Maven cannot download it, or the system does not allow network namespaces
 */
export async function startDynamoDbLocal(): Promise<string> {
  const jars = await fetchJars();
  const entry = path.join(import.meta.dirname, 'isolated-dynamodb-local.ts');
  const namespace = ['--map-root-user', '--net', '--pid', '--fork', '--kill-child'];
  const child = spawn('unshare', [...namespace, process.execPath, entry, jars], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    detached: true, // otherwise Ctrl-C would end it before the tests
  });
  const errors = child.stderr ? text(child.stderr) : '';
  const onExit = (status: number | null) =>
    void Promise.resolve(errors).then(log => process.stderr.write(`DynamoDB Local exited with ${status}.\n${log}`));
  stop = () => end(child.off('exit', onExit));
  const server = createServer();
  const port = await listen(server);
  const problem = await new Promise<string | undefined>(resolve => {
    child.once('error', error => resolve(error.message));
    child.once('exit', status => resolve(`its process exited with ${status}`));
    child.once('message', () => resolve(undefined));
    child.send('listener', server, () => server.close()); // the child keeps it open
  });
  if (problem === undefined) {
    child.once('exit', onExit);
    return `http://127.0.0.1:${port}`;
  }
  throw new Error(`DynamoDB Local did not start (${problem}).\n${await errors}${advice}`);
}

export async function teardown(): Promise<void> {
  return stop();
}

declare module 'vitest' {
  interface ProvidedContext {
    /** The endpoint of DynamoDB Local, or `null` if tests use packages/cloud. */
    dynamoDbLocal: string | null;
  }
}

let stop: () => Promise<void> = async () => {};

const version = '2.6.1';

/** Returns the folder of DynamoDB Local and its libraries. The first run downloads them with Maven. @throws if Maven fails */
function fetchJars(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('EMISSOR_DYNAMODB=dynamodb-local requires Linux on x86-64.');
  }
  return cachedFolder(`dynamodb-local-${version}`, draft => {
    process.stderr.write(`Downloading DynamoDB Local ${version} ...\n`);
    writeFileSync(path.join(draft, 'pom.xml'), pom);
    const copy = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
    const args = ['--batch-mode', '--quiet', copy, '-DincludeScope=runtime', '-DoutputDirectory=.'];
    execFileSync('mvn', args, { cwd: draft, stdio: ['ignore', process.stderr, process.stderr] });
  });
}

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId><artifactId>program</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>com.amazonaws</groupId><artifactId>DynamoDBLocal</artifactId><version>${version}</version>
  </dependency></dependencies>
</project>`;

const advice = [
  'It requires Java 17 and a network namespace, because it listens on all addresses. Check that',
  '`unshare --map-root-user --net --pid --fork ip link set lo up` succeeds. On Ubuntu 23.10 or later, set',
  '`sysctl kernel.apparmor_restrict_unprivileged_userns=0`. In a container, add the capability SYS_ADMIN.',
].join('\n');

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, 'exit');
  child.disconnect();
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await exited;
  clearTimeout(timer);
}
