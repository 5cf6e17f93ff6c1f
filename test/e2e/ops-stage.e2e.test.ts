import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { runOpsInProcess } from '../../tools/support/ops.ts';
import { createClient } from '../support/e2e-accounts.ts';
import { describeWith, output, outputs } from '../support/e2e-target.ts';

// A stage is found by its stacks' outputs. Here a stand-in for CloudFormation tells the outputs of the run under test.

/** DescribeStacks answers in the AWS Query protocol. */
const stackXml = (name: string, entries: readonly (readonly [string, string])[]): string => {
  const members = entries.map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  return `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult>
    <Stacks><member><StackName>${name}</StackName><CreationTime>2026-01-01T00:00:00Z</CreationTime>
    <StackId>arn:aws:cloudformation:us-east-1:111122223333:stack/${name}/1</StackId>
    <StackStatus>CREATE_COMPLETE</StackStatus><Outputs>${members.join('')}</Outputs></member></Stacks>
    </DescribeStacksResult></DescribeStacksResponse>`;
};

const missingXml = (name: string): string =>
  `<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error><Type>Sender</Type>
   <Code>ValidationError</Code><Message>Stack with id ${name} does not exist</Message></Error></ErrorResponse>`;

const identityXml = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
  <Arn>arn:aws:iam::111122223333:user/ana</Arn><UserId>AIDA</UserId><Account>111122223333</Account>
  </GetCallerIdentityResult></GetCallerIdentityResponse>`;

let server: Server;
/** True while the stand-in has the stacks of the stage. */
let isDeployed = true;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const asked = new URLSearchParams(await text(request));
    const name = asked.get('StackName') ?? '';
    const entries = name === 'Emissor-dev-Data' ? [['ClientsTable', output('ClientsTable')] as const] : [];
    const isIdentity = asked.get('Action') === 'GetCallerIdentity';
    response.writeHead(isDeployed || isIdentity ? 200 : 400, { 'content-type': 'text/xml' });
    response.end(isIdentity ? identityXml : isDeployed ? stackXml(name, entries) : missingXml(name));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const environment = {
    AWS_ENDPOINT_URL_CLOUDFORMATION: endpoint,
    AWS_ENDPOINT_URL_STS: endpoint,
    AWS_REGION: outputs.Region ?? 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    ...(outputs.DynamoDbEndpoint !== undefined && { AWS_ENDPOINT_URL_DYNAMODB: outputs.DynamoDbEndpoint }),
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
});

afterAll(() => {
  vi.unstubAllEnvs();
  server.close();
});

describeWith(['engines'], 'ops --stage', () => {
  it('works on the stage whose stacks are there', async () => {
    const { clientId } = await createClient();
    const { code, stdout } = await runOpsInProcess(['--stage', 'dev', '--json', 'clients', 'list']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).map((client: { clientId: string }) => client.clientId)).toContain(clientId);
  });

  it('says in one line that a stage is not deployed, and where', async () => {
    isDeployed = false;
    const { code, stdout, stderr } = await runOpsInProcess(['--stage', 'dev', 'clients', 'list']);
    isDeployed = true;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^error: stage dev is not deployed in \S+ of account 111122223333: stack Emissor-dev-\w+ is missing \(.*\)\.\n$/,
    );
  });

  it('says in one line that the file of a stage is not filled in', async () => {
    const { code, stdout, stderr } = await runOpsInProcess(['--stage', 'prod', 'clients', 'list']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error: Stage prod: stages\/prod\.ts must give account .*\n$/);
  });

  it('says in one line that the deployed version lacks an output', async () => {
    const { code, stderr } = await runOpsInProcess(['--stage', 'dev', 'users', 'list']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: stage dev has no output "UsersTable": .*\n$/);
  });
});
