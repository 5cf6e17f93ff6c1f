import {
  InvokeCommand,
  LambdaClient,
  UpdateFunctionConfigurationCommand,
  waitUntilFunctionUpdatedV2,
} from '@aws-sdk/client-lambda';
import { type Check, must, type World } from './check.ts';

/** The checks of what functions find in Lambda's image and in their process. */
export const runtimeChecks: readonly Check[] = [
  {
    name: 'argon2',
    claim: "Lambda's image of Node.js 24 has the argon2 of OpenSSL, which hashes passwords",
    run: checkArgon2,
  },
  {
    name: 'file-descriptors',
    claim: 'A function may open 1,024 files: a hundred attempts at once, with their connections, fit',
    emulated: 'the limit is that of this machine',
    run: checkFiles,
  },
  {
    name: 'early-start',
    claim: 'Lambda starts some processes ahead of their first request, so that keys are opened before somebody waits',
    emulated: 'it starts a process when there is a request',
    run: checkEarlyStart,
  },
];

/** The answer of the probe. */
interface Probed {
  readonly node: string;
  /** Base64. */
  readonly hashed?: string;
  readonly files: number;
  /** Milliseconds from the start of the process to its first request; `null` after the first. */
  readonly ahead: number | null;
}

async function checkArgon2({ settings, scratch }: World): Promise<string> {
  const { node, hashed } = await ask(new LambdaClient(settings), scratch);
  must(hashed !== undefined, `Node.js ${node} has no crypto.argon2: no login can work`);
  must(hashed === reference, `argon2id of the reference's password is ${hashed}`);
  return `Node.js ${node} makes the hash of the reference implementation`;
}

/** https://github.com/P-H-C/phc-winner-argon2#command-line-utility: "password", "somesalt", 64 MiB, two passes. */
const reference = 'CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc=';

async function checkFiles({ settings, scratch }: World): Promise<string> {
  const { files } = await ask(new LambdaClient(settings), scratch);
  must(files >= 1_024, `a process may open ${files} files`);
  return `a process may open ${files} files`;
}

/** Changes the function's configuration several times: each time the next request needs a new process. */
async function checkEarlyStart({ settings, scratch, progress }: World): Promise<string> {
  const lambda = new LambdaClient(settings);
  const waits: number[] = [];
  for (let time = 1; time <= starts; time++) {
    progress(`start ${time} of ${starts}`);
    const FunctionName = scratch.ProbeName;
    await lambda.send(
      new UpdateFunctionConfigurationCommand({ FunctionName, Environment: { Variables: { START: String(time) } } }),
    );
    await waitUntilFunctionUpdatedV2({ client: lambda, maxWaitTime: 120 }, { FunctionName });
    const { ahead } = await ask(lambda, scratch);
    if (ahead !== null) waits.push(ahead);
  }
  const early = waits.filter(wait => wait > 1_000);
  return `${early.length} of ${waits.length} processes had started over a second ahead (${waits.join(', ')} ms). No promise: AWS decides`;
}

const starts = 8;

async function ask(lambda: LambdaClient, { ProbeName }: World['scratch']): Promise<Probed> {
  const { Payload, FunctionError } = await lambda.send(new InvokeCommand({ FunctionName: ProbeName, Payload: '{}' }));
  const text = Payload?.transformToString() ?? '';
  must(FunctionError === undefined, `the probe fails: ${text}`);
  return JSON.parse(text);
}
