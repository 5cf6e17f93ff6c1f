/** A CDK app of one function: notes that come in by HTTP go through a queue into a table, and are read back by HTTP. */
import { join } from 'node:path';
import { App, CfnOutput, Stack } from 'aws-cdk-lib';
import { HttpApi, HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { AttributeType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { buildSync } from 'esbuild';

const app = new App();
const bundle = join(app.outdir, 'bundle');
buildSync({
  entryPoints: [join(import.meta.dirname, 'notes.ts')],
  outfile: join(bundle, 'index.mjs'),
  bundle: true,
  format: 'esm',
  platform: 'node',
  mainFields: ['module', 'main'],
});

const stack = new Stack(app, 'Notes');
const queue = new Queue(stack, 'Queue');
const table = new Table(stack, 'Table', { partitionKey: { name: 'id', type: AttributeType.STRING } });
const notes = new LambdaFunction(stack, 'Function', {
  code: Code.fromAsset(bundle),
  handler: 'index.handler',
  runtime: Runtime.NODEJS_24_X,
  environment: { QUEUE_URL: queue.queueUrl, TABLE: table.tableName },
});
notes.addEventSource(new SqsEventSource(queue));
queue.grantSendMessages(notes);
table.grantReadWriteData(notes);

const api = new HttpApi(stack, 'Api');
const integration = new HttpLambdaIntegration('Integration', notes);
api.addRoutes({ path: '/notes/{id}', methods: [HttpMethod.GET, HttpMethod.PUT], integration });

new CfnOutput(stack, 'NotesUrl', { value: api.apiEndpoint });
new CfnOutput(stack, 'NotesTable', { value: table.tableName });
