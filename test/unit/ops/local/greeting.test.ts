import { expect, it } from 'vitest';
import { greeting } from '../../../../ops/local/greeting.ts';

const outputs = {
  AuthUrl: 'http://127.0.0.1:4000',
  BaseUrl: 'http://127.0.0.1:4001',
  ReceiverUrl: 'http://127.0.0.1:4002',
  EventsQueueUrl: 'http://127.0.0.1:4003/queue',
  DynamoDbEndpoint: 'http://127.0.0.1:4004',
  Demo: { ClientId: 'client', ClientSecret: 'secret', Username: 'ana', Password: 'password', AccountId: 'demo' },
} as Parameters<typeof greeting>[0];

it('the text of a run that is ready says what to do next, and confirms each mapped name', () => {
  const mappings = new Map([
    ['one.example.net', 9000],
    ['two.example.net', 9001],
  ]);
  const text = greeting(outputs, { outputsFile: 'outputs.json', consoleLink: 'http://127.0.0.1:4005/', mappings });
  expect(text).toContain('  receiver   https://one.example.net/… is forwarded to http://localhost:9000');
  expect(text).toContain('  receiver   https://two.example.net/… is forwarded to http://localhost:9001');
  expect(text.join('\n')).toMatch(/Next steps:\n {2}npm run smoke .*\n {2}the console .*"First steps"/);
});
