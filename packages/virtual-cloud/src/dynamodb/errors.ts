import {
  ConditionalCheckFailedException,
  DynamoDBServiceException,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';

/** Makes the error of a request that DynamoDB refuses. The SDK has no class for it. */
export function validationError(message: string): DynamoDBServiceException {
  return new DynamoDBServiceException({
    name: 'ValidationException',
    $fault: 'client',
    message,
    $metadata: metadataOf(400),
  });
}

/** Makes the error of a write whose condition does not hold. */
export function conditionFailed(): ConditionalCheckFailedException {
  return new ConditionalCheckFailedException({ message: 'The conditional request failed', $metadata: metadataOf(400) });
}

/** Makes the error of a request about a table that does not exist. */
export function tableNotFound(): ResourceNotFoundException {
  return new ResourceNotFoundException({ message: 'Requested resource not found', $metadata: metadataOf(400) });
}

/** Makes the error of what DynamoDB knows and these tables do not. It is none of DynamoDB's, so nobody takes it for an answer. */
export function notImplemented(what: string): Error {
  return new Error(`The virtual DynamoDB does not know ${what}.`);
}

/** Returns what the SDK tells of a call that was made once. Each answer has its own: a caller may correct it. */
export function metadataOf(httpStatusCode: number) {
  return { httpStatusCode, attempts: 1, totalRetryDelay: 0 };
}
