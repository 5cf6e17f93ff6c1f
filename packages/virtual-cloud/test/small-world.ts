import { DecryptCommand, GenerateDataKeyWithoutPlaintextCommand, type KMSClient } from '@aws-sdk/client-kms';
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import { type FaultPlan, makeVirtualCloud, standardScaling } from '../src/virtual-cloud.ts';

/** Messages that go from a queue to another one and back, sealed on their way, until they have gone often enough. */
export function makeSmallWorld(seed: number, faults: FaultPlan = {}, messages = 20) {
  const cloud = makeVirtualCloud({
    seed,
    faults,
    queues: [
      { name: 'there', visibilityTimeout: 30 },
      { name: 'back', visibilityTimeout: 30 },
    ],
    functions: [passOn('there', 'back'), passOn('back', 'there')],
  });
  for (let number = 0; number < messages; number += 1)
    cloud.send('there', { body: `${number}/5`, group: String(number % 3) });
  return cloud;
}

function passOn(from: string, to: string) {
  const scaling = standardScaling(10);
  return {
    name: `from-${from}`,
    timeout: 10_000,
    sources: [{ queue: from, scaling }],
    start: ({ time, random, log, ...clients }: Outside) => {
      const { sqs, kms }: Clients = clients;
      const EncryptionContext = { from };
      return async function handler(event: SQSEvent) {
        const sealed = await kms.send(
          new GenerateDataKeyWithoutPlaintextCommand({ KeyId: 'key', NumberOfBytes: 32, EncryptionContext }),
        );
        const { CiphertextBlob } = sealed;
        const opened = await kms.send(new DecryptCommand({ CiphertextBlob, EncryptionContext }));
        await Promise.all(event.Records.map(({ body }) => pass(body)));
        log(`passed ${event.Records.length} with ${opened.Plaintext?.at(0)} at ${time.now()}`);
      };

      async function pass(body: string): Promise<void> {
        const [number, left] = body.split('/').map(Number);
        await time.pause(random.number() * 50);
        if (left === 0) log(`done ${number}`);
        else await sqs.send(new SendMessageCommand({ QueueUrl: to, MessageBody: `${number}/${Number(left) - 1}` }));
      }
    },
  };
}

interface Clients {
  readonly sqs: Pick<SQSClient, 'send'>;
  readonly kms: Pick<KMSClient, 'send'>;
}

type Outside = Parameters<Parameters<typeof makeVirtualCloud>[0]['functions'][number]['start']>[0];

/** In milliseconds. All messages have come to rest by then. */
export const hour = 3_600_000;

if (import.meta.main) {
  const cloud = makeSmallWorld(Number(process.argv[2]), { shares: { slow: 0.1, answer_lost: 0.1 } });
  await cloud.run(cloud.now() + hour);
  console.log(cloud.digest());
}
