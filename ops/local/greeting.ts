import type { ServiceOutputs } from './cloud-request.ts';

/** Returns the text that is printed when the run is ready: the addresses, a first request, how to stop it. */
export function greeting(
  outputs: ServiceOutputs & { readonly DynamoDbEndpoint: string },
  { outputsFile, consoleLink }: { readonly outputsFile: string; readonly consoleLink: string },
) {
  const { AuthUrl, BaseUrl, ReceiverUrl, EventsQueueUrl, DynamoDbEndpoint, Demo } = outputs;
  return [
    '',
    'Emissor runs here:',
    `  auth       ${AuthUrl}`,
    `  API        ${BaseUrl}`,
    `  events     ${EventsQueueUrl}`,
    `  receiver   ${ReceiverUrl}/deliveries   what https://receiver.example.com/… gets`,
    `  console    ${consoleLink}   opens once; Enter here: another link`,
    `  DynamoDB   ${DynamoDbEndpoint}`,
    `  outputs    ${outputsFile}   OpenAPI documents with these addresses beside it`,
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
    'Ctrl-C stops it.',
    '',
  ];
}

/** On Windows it is one line, because its shells continue lines in ways of their own. */
function firstRequest({ AuthUrl, Demo }: ServiceOutputs): readonly string[] {
  const lines = [
    `  curl -s ${AuthUrl}/oauth/v1/token -d grant_type=password`,
    `-d client_id=${Demo.ClientId} -d client_secret=${Demo.ClientSecret}`,
    `-d username=${Demo.Username} -d password=${Demo.Password}`,
  ];
  return process.platform === 'win32' ? [lines.join(' ').replace('curl', 'curl.exe')] : [lines.join(' \\\n    ')];
}
