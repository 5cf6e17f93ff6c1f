import type { ServiceOutputs } from './cloud-request.ts';

/** Returns the lines that a run prints once it is ready, with its addresses, a first request and the next steps. */
export function greeting(
  outputs: ServiceOutputs & { readonly DynamoDbEndpoint: string },
  { outputsFile, consoleLink, mappings }: GreetingDetails,
) {
  const { AuthUrl, BaseUrl, ReceiverUrl, EventsQueueUrl, DynamoDbEndpoint, Demo } = outputs;
  return [
    '',
    'Emissor is running:',
    `  auth       ${AuthUrl}`,
    `  API        ${BaseUrl}`,
    `  events     ${EventsQueueUrl}`,
    `  receiver   ${ReceiverUrl}/deliveries   shows the requests to https://receiver.example.com/…`,
    ...[...mappings].map(([name, port]) => `  receiver   https://${name}/… is forwarded to http://localhost:${port}`),
    `  console    ${consoleLink}   works once; press Enter here for another link`,
    `  DynamoDB   ${DynamoDbEndpoint}`,
    `  outputs    ${outputsFile}   with OpenAPI documents for these addresses next to it`,
    '',
    `Demo client and admin of account "${Demo.AccountId}":`,
    `  client_id      ${Demo.ClientId}`,
    `  client_secret  ${Demo.ClientSecret}`,
    `  username       ${Demo.Username}`,
    `  password       ${Demo.Password}`,
    '',
    'A first token:',
    ...firstRequest(outputs),
    '',
    'Next steps:',
    '  npm run smoke    run it in another terminal to get a token, register a webhook and receive an event',
    '  the console      "First steps" does the same in the browser, optionally with your own receiver',
    '',
    'Press Ctrl-C to stop.',
    '',
  ];
}

interface GreetingDetails {
  readonly outputsFile: string;
  readonly consoleLink: string;
  /** The receiver's port for each host name, from `--map`. */
  readonly mappings: ReadonlyMap<string, number>;
}

/** Returns the first request. On Windows, it is a single line, because the shells continue lines differently. */
function firstRequest({ AuthUrl, Demo }: ServiceOutputs): readonly string[] {
  const lines = [
    `  curl -s ${AuthUrl}/oauth/v1/token -d grant_type=password`,
    `-d client_id=${Demo.ClientId} -d client_secret=${Demo.ClientSecret}`,
    `-d username=${Demo.Username} -d password=${Demo.Password}`,
  ];
  return process.platform === 'win32' ? [lines.join(' ').replace('curl', 'curl.exe')] : [lines.join(' \\\n    ')];
}
