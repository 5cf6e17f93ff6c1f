/** Exports the parts that tests and measurements start without a cloud. Other programs must not import them. */
export { synthesise } from './assembly/assembly.ts';
export { openDataDirectory } from './directories.ts';
export { startDynamoDb } from './dynamodb.ts';
export type { Interceptor } from './emulator.ts';
export { makeCertificateAuthority } from './internet/certificate-authority.ts';
export { startInternet } from './internet/internet.ts';
export { startKms } from './kms.ts';
export { type QueueService, startSqs } from './sqs.ts';
