import { SNSClient } from '@aws-sdk/client-sns';
import { SQSClient } from '@aws-sdk/client-sqs';

/** The outputs with the endpoints of services. They have no endpoints if the stage is deployed to AWS. */
export interface EngineOutputs {
  readonly Region?: string;
  readonly SqsEndpoint?: string;
  readonly SnsEndpoint?: string;
}

/** Creates an SQS client. `sender` is the access key id for local runs, which do not verify signatures. */
export function sqsClientOf({ Region, SqsEndpoint }: EngineOutputs, sender?: string): SQSClient {
  return new SQSClient(settings(Region, SqsEndpoint, sender));
}

export function snsClientOf({ Region, SnsEndpoint }: EngineOutputs): SNSClient {
  return new SNSClient(settings(Region, SnsEndpoint));
}

function settings(region: string | undefined, endpoint: string | undefined, accessKeyId = 'local') {
  const credentials = { accessKeyId, secretAccessKey: 'local' }; // local runs accept any secret
  return { ...(region !== undefined && { region }), ...(endpoint !== undefined && { endpoint, credentials }) };
}
