import { spawn, spawnSync } from 'node:child_process';
import { connect, type Server } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

// Runs as the first process in the network namespace of DynamoDB Local (`isolated-dynamodb-local.ts FOLDER_OF_JARS`). It starts the server
// and forwards connections from the socket of `dynamodb-local.ts`. When that program ends, this process and the namespace also end.

const [jars = ''] = process.argv.slice(2);
const port = 8000; // always free in the namespace
const startLimit = 60_000;

process.once('disconnect', () => process.exit(0));
process.on('message', (_, listener) => forward(listener as Server));

const loopback = spawnSync('ip', ['link', 'set', 'lo', 'up'], { stdio: 'inherit' });
if (loopback.status !== 0) fail(loopback.error?.message ?? 'Could not set up the loopback interface.');
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
server.once('exit', status => fail(`java exited with ${status}.`));
const deadline = Date.now() + startLimit;
while (!(await isListening())) {
  if (Date.now() > deadline) fail(`The server did not respond within ${startLimit / 1_000} s.`);
  await pause(50);
}
process.send?.('ready');

function forward(listener: Server): void {
  listener.on('connection', caller => {
    const target = connect({ port, host: '127.0.0.1', noDelay: true });
    caller.setNoDelay(true);
    caller.once('error', () => target.destroy());
    target.once('error', () => caller.destroy());
    caller.pipe(target).pipe(caller);
  });
}

function isListening(): Promise<boolean> {
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
