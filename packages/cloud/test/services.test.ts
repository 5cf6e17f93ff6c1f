import { createPrivateKey, createPublicKey } from 'node:crypto';
import {
  DecryptCommand,
  GenerateDataKeyPairWithoutPlaintextCommand,
  GenerateDataKeyWithoutPlaintextCommand,
} from '@aws-sdk/client-kms';
import { PublishCommand } from '@aws-sdk/client-sns';
import { expect, it } from 'vitest';
import { makeKms } from '../src/kms.ts';
import { makeSeededRandom } from '../src/seeded-random.ts';
import { makeTopics } from '../src/sns.ts';

const EncryptionContext = { kind: 'signing', stage: 'test' };

it('a wrapped key opens under its encryption context alone', () => {
  const kms = makeKms(makeSeededRandom(1, 'kms'));
  const made = kms.execute(
    new GenerateDataKeyWithoutPlaintextCommand({ KeyId: 'k', NumberOfBytes: 32, EncryptionContext }),
  );
  const open = (input: object) => () =>
    kms.execute(new DecryptCommand({ CiphertextBlob: undefined, ...made, ...input }));
  expect(open({ EncryptionContext: { stage: 'test', kind: 'signing' } })()).toMatchObject({
    Plaintext: { length: 32 },
  });
  expect(open({ EncryptionContext: {} })).toThrow(expect.objectContaining({ name: 'InvalidCiphertextException' }));
  expect(open({ EncryptionContext, KeyId: 'other' })).toThrow(
    expect.objectContaining({ name: 'IncorrectKeyException' }),
  );
});

it('makes a key pair', () => {
  const kms = makeKms(makeSeededRandom(1, 'kms'));
  const request = { KeyId: 'k', KeyPairSpec: 'ECC_NIST_P256', EncryptionContext } as const;
  const pair = Object(kms.execute(new GenerateDataKeyPairWithoutPlaintextCommand(request)));
  const opened = kms.execute(new DecryptCommand({ CiphertextBlob: pair.PrivateKeyCiphertextBlob, EncryptionContext }));
  const privateKey = createPrivateKey({ key: Object(opened).Plaintext, type: 'pkcs8', format: 'der' });
  expect(createPublicKey(privateKey).export({ type: 'spki', format: 'der' })).toEqual(pair.PublicKey);
});

it('keeps what is published, and refuses what is empty', () => {
  const topics = makeTopics(() => 5);
  topics.execute(new PublishCommand({ TopicArn: 'arn', Message: 'hello', Subject: 's' }));
  expect(topics.published).toEqual([{ at: 5, topicArn: 'arn', message: { Message: 'hello', Subject: 's' } }]);
  expect(() => topics.execute(new PublishCommand({ TopicArn: 'arn', Message: '' }))).toThrow('nothing to say');
});
