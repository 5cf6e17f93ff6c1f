import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { closeNow, listen } from '../../tools/support/listen.ts';

/** Parameter Store, as far as secrets of smoke tests go, on a free port of 127.0.0.1. */
export interface FakeParameterStore {
  readonly parameters: Map<string, StoredParameter>;
  /** The environment with which the SDK finds it. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): void;
}

/** Starts it. */
export async function startParameterStore(): Promise<FakeParameterStore> {
  const parameters = new Map<string, StoredParameter>();
  const server = createServer(async (request, response) => {
    const operation = String(request.headers['x-amz-target']).replace('AmazonSSM.', '');
    const { status, body } = perform(operation, (await json(request)) as Put);
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
  });
  const port = await listen(server);
  return {
    parameters,
    environment: {
      AWS_ENDPOINT_URL_SSM: `http://127.0.0.1:${port}`,
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
    },
    stop: () => void closeNow(server),
  };

  function perform(operation: string, { Name, Overwrite, ...stored }: Put): { status: number; body: object } {
    const known = parameters.get(Name);
    if (operation === 'PutParameter') {
      if (known && !Overwrite) return failed('ParameterAlreadyExists');
      parameters.set(Name, stored);
      return { status: 200, body: { Version: 1 } };
    }
    if (!known) return failed('ParameterNotFound');
    if (operation === 'DeleteParameter') {
      parameters.delete(Name);
      return { status: 200, body: {} };
    }
    return { status: 200, body: { Parameter: { Name, ...known } } };
  }
}

/** A parameter as it was put. */
interface StoredParameter {
  readonly Value: string;
  readonly Type: string;
  readonly KeyId: string;
}

interface Put extends StoredParameter {
  readonly Name: string;
  readonly Overwrite?: boolean;
}

function failed(name: string) {
  return { status: 400, body: { __type: name, message: name } };
}
