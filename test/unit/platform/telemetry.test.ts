import { createServer } from 'node:http';
import { DecryptCommand, KMSClient, ListKeysCommand } from '@aws-sdk/client-kms';
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { BatchExecuteStatementCommand, BatchGetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { batchGet } from '../../../lambdas/platform/aws/batch-get.ts';
import { clientSettings } from '../../../lambdas/platform/aws/client-settings.ts';
import {
  type Dynamo,
  dynamoSettings,
  makeDocumentClient,
  makeDynamo,
  StatementError,
} from '../../../lambdas/platform/aws/dynamo.ts';
import { makeHandler } from '../../../lambdas/platform/lambda-handler.ts';
import { describeError, makeTelemetry } from '../../../lambdas/platform/telemetry.ts';
import { listen } from '../../../tools/support/listen.ts';
import { processorTimeOf } from '../../support/processor-time.ts';

const canary = 'canary-7f3a';

// An error message may quote input, so the log contains only the name, the code, the position and the cause of an error.
describe('an error in the log', () => {
  it.each([
    ['one line', canary],
    ['several lines', `first\n${canary}\nlast`],
    ['lines that resemble stack frames', `x\n    at ${canary} (/secret/${canary}:1:2)\n    at file:///${canary}:3:4`],
    ['a stack frame at its end', `\n    at file:///${canary}:1:1`],
    ['an empty message', ''],
  ])('has the names and positions of the error and its cause, but never a message: %s', (_case, message) => {
    const error = new TypeError(message, { cause: new RangeError(message, { cause: canary }) });
    const thrown = expect.stringMatching(/telemetry\.test\.ts:\d+:\d+\)?$/);
    const at = expect.arrayContaining([thrown]);
    const description = describeError(error);
    expect(description).toEqual({ errorName: 'TypeError', at, cause: { errorName: 'RangeError', at } });
    expect(JSON.stringify(description)).not.toContain(canary);
    expect(description.at?.[0]).toEqual(thrown);
  });

  it('has at most two causes, even of a cyclic chain', () => {
    const error: Error & { cause?: unknown } = new Error('x');
    error.cause = error;
    expect(describeError(error).cause?.cause).not.toHaveProperty('cause');
  });

  it('has a system error code, but no other code', () => {
    const coded = (code: unknown) => describeError(Object.assign(new Error(canary), { code })).errorCode;
    for (const code of ['ECONNREFUSED', 'ERR_TLS_CERT_ALTNAME_INVALID']) expect(coded(code)).toBe(code);
    for (const code of [canary, 7, { canary }, 'A'.repeat(41)]) expect(coded(code)).toBeUndefined();
  });

  it.each([
    [canary, 'string'],
    [undefined, 'undefined'],
    [{ canary }, 'object'],
  ])('has only the type of the value if %j was thrown', (thrown, errorName) => {
    expect(describeError(thrown)).toEqual({ errorName });
  });

  it.each(['a'.repeat(200_000), ` at ${':1'.repeat(100_000)}`, `\n    at ${'('.repeat(100_000)}`])(
    'is described in time linear in its message',
    message => {
      const error = Object.assign(new Error('other'), { stack: `Error: ${message}\n    at file:///x.mjs:1:2` });
      expect(processorTimeOf(() => describeError(error))).toBeLessThan(500);
    },
  );
});

describe('an AWS error', () => {
  /** A message from AWS, which may contain names, addresses and keys. */
  const message = `User: arn:aws:sts::1:assumed-role/${canary} is not authorized to perform: x on resource: ${canary}`;
  const denied = { __type: 'com.aws#AccessDeniedException', message };
  let errorBody: object = denied;
  const aws = createServer((request, response) => {
    const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': 'REQUEST1' };
    request.resume().on('end', () => {
      response.writeHead(400, headers).end(JSON.stringify(errorBody));
    });
  });
  let options: object;

  beforeAll(async () => {
    const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
    options = { region: 'sa-east-1', endpoint: `http://127.0.0.1:${await listen(aws)}`, credentials, maxAttempts: 1 };
  });
  afterAll(() => void aws.close());

  const TableName = 'Emissor-prod-Data-Deliveries';
  const Keys = [{ id: canary }];
  const unread = Keys.map(key => ({ table: TableName, key }));
  const Statements = [{ Statement: `INSERT INTO "${TableName}" VALUE {'${canary}':?}`, Parameters: [canary] }];
  const QueueUrl = `https://${canary}/q`;
  const Entries = [{ Id: '1', MessageBody: canary }];
  const dynamo: Dynamo = (command, more) =>
    makeDynamo(makeDocumentClient({ ...dynamoSettings(), ...options }))(command, more);
  const sqs = () => new SQSClient({ ...clientSettings('sqs'), ...options });
  const kms = () => new KMSClient({ ...clientSettings('kms'), ...options });
  const sns = () => new SNSClient({ ...clientSettings('sns'), ...options });

  it.each([
    ['dynamodb:PutItem', 'table', () => dynamo(new PutCommand({ TableName, Item: { id: canary } }))],
    ['dynamodb:Query', 'index', () => dynamo(new QueryCommand({ TableName, IndexName: 'Due' }))],
    ['dynamodb:BatchGetItem', 'table', () => dynamo(new BatchGetCommand({ RequestItems: { [TableName]: { Keys } } }))],
    ['dynamodb:PartiQLInsert', 'table', () => dynamo(new BatchExecuteStatementCommand({ Statements }))],
    ['sqs:SendMessage', 'queue', () => sqs().send(new SendMessageBatchCommand({ QueueUrl, Entries }))],
    ['kms:Decrypt', 'key', () => kms().send(new DecryptCommand({ CiphertextBlob: Buffer.from('x') }))],
    ['sns:Publish', 'topic', () => sns().send(new PublishCommand({ TopicArn: canary, Message: canary }))],
  ])('of %s has the action and the resource type (%s), but no value', async (action, resourceType, call) => {
    const description = describeError(await errorOf(call()));
    expect(description).toMatchObject({ action, resourceType, httpStatus: 400, tries: 1 });
    expect(description.table).toBe(action.startsWith('dynamodb:') ? TableName : undefined);
    expect(description.index).toBe(resourceType === 'index' ? 'Due' : undefined);
    expect(description).not.toHaveProperty('throttled');
    expect(description.errorName).toMatch(/^[A-Za-z]+$/);
    expect(JSON.stringify(description)).not.toContain(canary);
  });

  const throttle = (__type: string, reasons: object = {}) => ({ __type: `com.aws#${__type}`, message, ...reasons });
  const arn = 'arn:aws:dynamodb:sa-east-1:1:table/Emissor-prod-Data-Deliveries';
  const put = () => dynamo(new PutCommand({ TableName, Item: { id: canary } }));
  const hotKey = { reason: 'IndexWriteKeyRangeThroughputExceeded', resource: `${arn}/index/due` };
  const quota = { reason: 'TableWriteAccountLimitExceeded', resource: arn };

  const indexThrottle = throttle('ProvisionedThroughputExceededException', { ThrottlingReasons: [hotKey] });
  const quotaThrottle = throttle('ThrottlingException', { throttlingReasons: [quota] });
  const throttleWithoutReason = throttle('ThrottlingException');
  const ofTable = { table: TableName, throttled: [] };
  const listKeys = () => kms().send(new ListKeysCommand());
  const readPart = () => batchGet(async () => ({ UnprocessedKeys: { [TableName]: { Keys } } }) as never, unread);
  const writePart = () => Promise.reject(new StatementError('ThrottlingError', TableName));

  it.each<[string, object, () => Promise<unknown>, object | undefined]>([
    ['an index that a write must update', indexThrottle, put, { ...ofTable, index: 'due', throttled: [hotKey.reason] }],
    ['a table at its quota', quotaThrottle, put, { ...ofTable, throttled: [quota.reason] }],
    ['a table without a reason', throttleWithoutReason, put, ofTable],
    ['another failure', denied, put, undefined],
    ['KMS, which uses the same error name', throttleWithoutReason, listKeys, undefined],
    ['a part of a batch read', {}, readPart, ofTable],
    ['a statement of a batch write', {}, writePart, ofTable],
  ])('has the throttled table or index, and is counted: %s', async (_case, response, call, expected) => {
    errorBody = response;
    const error = await errorOf(call());
    const { written, telemetry } = collectLines();
    telemetry.log.error('message.deferred', describeError(error));
    telemetry.log.warn('event.not_noted', describeError(new Error('outer', { cause: error })));
    const [line = {}, ...others] = written();
    if (!expected) expect(line).not.toHaveProperty('throttled');
    else expect(line).toMatchObject(expected);
    expect(line.index).toBe((expected as { index?: string } | undefined)?.index);
    const counted = others.filter(({ StoreThrottled }) => StoreThrottled === 1);
    const dimensions = counted.map(({ _aws }) => _aws.CloudWatchMetrics[0].Dimensions);
    expect(dimensions).toEqual(expected ? [[['store']], [['store']]] : []);
    for (const metric of counted) expect(metric).not.toHaveProperty('service');
  });

  it('causes a log line that describes it when the invocation fails', async () => {
    errorBody = quotaThrottle;
    const { written, telemetry } = collectLines();
    const handler = makeHandler(telemetry, put);
    await expect(handler({}, { awsRequestId: 'r' } as never)).rejects.toThrow();
    expect(written()[0]).toMatchObject({ level: 'ERROR', message: 'invocation.failed', table: TableName });
    expect(written()[1]).toMatchObject({ StoreThrottled: 1 });
    expect(JSON.stringify(written())).not.toContain(canary);
  });
});

async function errorOf(call: Promise<unknown>): Promise<unknown> {
  const [{ reason }] = (await Promise.allSettled([call])) as [{ reason?: unknown }];
  return reason;
}

function collectLines() {
  vi.stubEnv('METRICS_NAMESPACE', 'Emissor/x');
  const lines: string[] = [];
  const note = (text: unknown) => Boolean(lines.push(String(text)));
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation(note);
  onTestFinished(() => stdout.mockRestore());
  return { telemetry: makeTelemetry('x'), written: () => lines.map(line => JSON.parse(line)) };
}
