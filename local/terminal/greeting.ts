import type { RunOutputs } from '../outputs.ts';

/** What a person reads when the run is ready: where things are, a first request, how to end it. */
export function greeting(outputs: RunOutputs, outputsFile: string): readonly string[] {
  const { AuthUrl, BaseUrl, ReceiverUrl, EventsQueueUrl, DynamoDbEndpoint, Demo } = outputs;
  return [
    '',
    'Emissor runs here:',
    `  auth       ${AuthUrl}`,
    `  API        ${BaseUrl}`,
    `  events     ${EventsQueueUrl}`,
    `  receiver   ${ReceiverUrl}   shows what https://receiver.example.com/… gets`,
    `  DynamoDB   ${DynamoDbEndpoint}`,
    `  outputs    ${outputsFile}`,
    '',
    `Demo client and admin of account "${Demo.AccountId}":`,
    `  client_id      ${Demo.ClientId}`,
    `  client_secret  ${Demo.ClientSecret}`,
    `  username       ${Demo.Username}`,
    `  password       ${Demo.Password}`,
    '',
    'A first token:',
    `  curl -s ${AuthUrl}/oauth/v1/token -d grant_type=password \\`,
    `    -d client_id=${Demo.ClientId} -d client_secret=${Demo.ClientSecret} \\`,
    `    -d username=${Demo.Username} -d password=${Demo.Password}`,
    '',
    'Ctrl-C ends it.',
    '',
  ];
}
