/**
 * Our token function's production bundle (its path is the argument) behind a plain HTTP server that does what the HTTP
 * API in front of it does: requests to events, answers to responses.
 */
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { HttpRequest, HttpResponse } from '../../lambdas/platform/http.ts';
import { serveMeasured } from './measured-server.ts';

/** As in Lambda, nothing loads the whole of `node:http` before the function does. */
const { createServer } = process.getBuiltinModule('node:http');

const bundle = process.argv[2] ?? '';

const context = {
  functionName: 'Token',
  functionVersion: '$LATEST',
  invokedFunctionArn: 'arn:aws:lambda:sa-east-1:000000000000:function:Token',
  memoryLimitInMB: '1769',
  awsRequestId: 'bench',
};

const { handler } = (await import(bundle)) as {
  handler: (event: HttpRequest, context: object) => Promise<HttpResponse>;
};

await serveMeasured(
  createServer(async (request, response) => {
    const { statusCode = 500, headers = {}, body = '' } = await handler(await toEvent(request), context);
    response.writeHead(statusCode, headers as Record<string, string>).end(body);
  }),
);

async function toEvent(request: IncomingMessage): Promise<HttpRequest> {
  const { method = '', url = '', headers } = request;
  const [path = '', query = ''] = url.split('?');
  return {
    version: '2.0',
    routeKey: `ANY ${path}`,
    rawPath: path,
    rawQueryString: query,
    headers: headers as Record<string, string>,
    requestContext: {
      accountId: '000000000000',
      apiId: 'bench',
      domainName: 'localhost',
      domainPrefix: 'localhost',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: '' },
      requestId: 'bench',
      routeKey: `ANY ${path}`,
      stage: '$default',
      time: '',
      timeEpoch: Date.now(),
    },
    body: (await buffer(request)).toString('base64'),
    isBase64Encoded: true,
  };
}
