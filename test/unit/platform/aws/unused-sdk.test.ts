import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type * as Sdk from '@aws-sdk/client-dynamodb';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientSettings } from '../../../../lambdas/platform/aws/client-settings.ts';
import { handlerOptions } from '../../../../lib/constructs/bundle.ts';

const region = 'sa-east-1';
const credentials = { accessKeyId: 'an-id', secretAccessKey: 'a-secret' };

describe('a client in a function’s bundle', () => {
  let directory: string;
  let sdk: typeof Sdk;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'emissor-sdk-'));
    const outfile = join(directory, 'sdk.mjs');
    const contents = "export { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'";
    const stdin = { contents, resolveDir: import.meta.dirname };
    buildSync({ ...handlerOptions(), outfile, stdin });
    sdk = await import(outfile);
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  it('uses the request handler and the signer in its settings', async () => {
    const authorizations: unknown[] = [];
    const handle = async ({ headers }: { headers: Record<string, string> }) => {
      authorizations.push(headers.authorization);
      return { response: { statusCode: 200, headers: {}, body: Buffer.from('{"TableNames":["a"]}') } };
    };
    const { signer } = clientSettings('dynamodb');
    const settings = { region, credentials, signer, requestHandler: { handle } } as Sdk.DynamoDBClientConfig;
    const client = new sdk.DynamoDBClient(settings);
    expect(await client.send(new sdk.ListTablesCommand())).toMatchObject({ TableNames: ['a'] });
    expect(authorizations).toEqual([expect.stringMatching(/^AWS4-HMAC-SHA256 /)]);
  });

  it('throws without a request handler or a signer', async () => {
    expect(() => new sdk.DynamoDBClient({ region, credentials })).toThrow('omit the request handler of the SDK');
    const { requestHandler } = clientSettings('dynamodb');
    const client = new sdk.DynamoDBClient({ region, credentials, requestHandler });
    await expect(client.send(new sdk.ListTablesCommand())).rejects.toThrow('omit the signer of the SDK');
  });
});
