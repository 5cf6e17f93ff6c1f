import { spawn, spawnSync } from 'node:child_process';
import { connect, type Server } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

// isolated-dynamodb-local.ts FOLDER_OF_JARS is the first process of the namespace of DynamoDB Local. It starts the server and forwards
// connections from the socket of `dynamodb-local.ts`. When that program ends, this process and the namespace end too.

const [jars = ''] = process.argv.slice(2);
const port = 8000; // always free in the namespace
const startLimit = 60_000;

process.once('disconnect', () => process.exit(0));
process.on('message', (_, listener) => passOn(listener as Server));

const loopback = spawnSync('ip', ['link', 'set', 'lo', 'up'], { stdio: 'inherit' });
if (loopback.status !== 0) fail(loopback.error?.message ?? 'The loopback interface cannot be set up.');
const options = ['-inMemory', '-disableTelemetry', '-port', String(port)];
const server = spawn(
  'java',
  [
    `-Djava.library.path=${jars}`,
    '-classpath',
    path.join(jars, '*'),
    'com.amazonaws.services.dynamodbv2.local.main.ServerRunner',
    ...options,
  ],
  { stdio: ['ignore', 'ignore', 'inherit'] },
);
server.once('error', error => fail(error.message));
server.once('exit', status => fail(`java ended with ${status}.`));
const deadline = Date.now() + startLimit;
while (!(await answers())) {
  if (Date.now() > deadline) fail(`It does not answer after ${startLimit / 1_000} s.`);
  await pause(50);
}
process.send?.('ready');

function passOn(listener: Server): void {
  listener.on('connection', caller => {
    const called = connect({ port, host: '127.0.0.1', noDelay: true });
    caller.setNoDelay(true);
    caller.once('error', () => called.destroy());
    called.once('error', () => caller.destroy());
    caller.pipe(called).pipe(caller);
  });
}

function answers(): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
