import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestProject } from 'vitest/node';
import { listen } from '../../../tools/support/listen.ts';
import { keptFolder } from '../kept-folder.ts';

// The global set-up of the unit tests: the DynamoDB that their tables are in.
//   EMISSOR_DYNAMODB=memory          (default) the one of packages/cloud, in the process of each test file
//   EMISSOR_DYNAMODB=dynamodb-local  one DynamoDB Local for all files; needs Linux on x86-64, Java 17 and Maven

/** Starts DynamoDB Local on request, and provides its endpoint to every test file. */
export async function setup(project: TestProject): Promise<void> {
  const engine = process.env.EMISSOR_DYNAMODB || 'memory';
  if (engine !== 'memory' && engine !== 'dynamodb-local') {
    throw new Error(`EMISSOR_DYNAMODB is ${engine}: it can be memory or dynamodb-local.`);
  }
  project.provide('dynamoDbLocal', engine === 'memory' ? null : await startDynamoDbLocal());
}

/**
 * Starts DynamoDB Local, and returns its endpoint on 127.0.0.1. `teardown` ends it. It always listens on all addresses, so it runs in a
 * network namespace, to which a socket on 127.0.0.1 forwards connections. The namespace ends with this process.
 *
 * @throws if Maven cannot fetch it, or this machine allows no such namespace.
 */
export async function startDynamoDbLocal(): Promise<string> {
  const jars = await fetchJars();
  const entry = path.join(import.meta.dirname, 'isolated-dynamodb-local.ts');
  const namespace = ['--map-root-user', '--net', '--pid', '--fork', '--kill-child'];
  const child = spawn('unshare', [...namespace, process.execPath, entry, jars], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    detached: true, // only Vitest handles Ctrl-C, and ends it after the tests
  });
  const said = child.stderr ? text(child.stderr) : '';
  const lost = (status: number | null) =>
    void Promise.resolve(said).then(why => process.stderr.write(`DynamoDB Local ended with ${status}.\n${why}`));
  stop = () => end(child.off('exit', lost));
  const server = createServer();
  const port = await listen(server);
  const problem = await new Promise<string | undefined>(resolve => {
    child.once('error', error => resolve(error.message));
    child.once('exit', status => resolve(`its process ended with ${status}`));
    child.once('message', () => resolve(undefined));
    child.send('listener', server, () => server.close()); // open on in the child
  });
  if (problem === undefined) {
    child.once('exit', lost);
    return `http://127.0.0.1:${port}`;
  }
  throw new Error(`DynamoDB Local did not start (${problem}).\n${await said}${advice}`);
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

/** Returns the folder with DynamoDB Local and its libraries. The first run fetches it with Maven. @throws if Maven cannot. */
function fetchJars(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('EMISSOR_DYNAMODB=dynamodb-local: what Maven has of DynamoDB Local runs on Linux on x86-64 only.');
  }
  return keptFolder(`dynamodb-local-${version}`, draft => {
    process.stderr.write(`Fetching DynamoDB Local ${version} ...\n`);
    writeFileSync(path.join(draft, 'pom.xml'), pom);
    const copy = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
    const words = ['--batch-mode', '--quiet', copy, '-DincludeScope=runtime', '-DoutputDirectory=.'];
    execFileSync('mvn', words, { cwd: draft, stdio: ['ignore', process.stderr, process.stderr] });
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
  'It needs Java 17 and, since it listens on all addresses, a network namespace to be alone in:',
  '`unshare --map-root-user --net --pid --fork ip link set lo up` has to work here. Ubuntu since 23.10 allows that with',
  '`sysctl kernel.apparmor_restrict_unprivileged_userns=0`, a container with the capability SYS_ADMIN.',
].join('\n');

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, 'exit');
  child.disconnect();
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await exited;
  clearTimeout(timer);
}
