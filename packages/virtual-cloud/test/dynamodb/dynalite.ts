import { once } from 'node:events';
import { CreateTableCommand, DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, DynamoDBDocumentClient, ScanCommand, type TranslateConfig } from '@aws-sdk/lib-dynamodb';
import dynalite from 'dynalite';
import { definitions } from './definitions.ts';

/** Starts a dynalite on 127.0.0.1, with the tables of these tests. */
export async function startDynalite(translate: TranslateConfig) {
  const server = dynalite({ createTableMs: 0 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const engine = new DynamoDBClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'test',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
  for (const table of definitions) {
    await engine.send(new CreateTableCommand({ BillingMode: 'PAY_PER_REQUEST', ...table }));
    const describe = () => engine.send(new DescribeTableCommand({ TableName: table.TableName }));
    while ((await describe()).Table?.TableStatus !== 'ACTIVE');
  }
  const client = DynamoDBDocumentClient.from(engine, translate);
  return { client, empty, stop };

  async function empty(): Promise<void> {
    for (const { TableName, KeySchema } of definitions) {
      const { Items = [] } = await client.send(new ScanCommand({ TableName }));
      for (const item of Items) {
        const Key = Object.fromEntries(KeySchema.map(({ AttributeName }) => [AttributeName, item[AttributeName]]));
        await client.send(new DeleteCommand({ TableName, Key }));
      }
    }
  }

  async function stop(): Promise<void> {
    engine.destroy();
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  }
}
