/** A function's process as far as keys go: it begins to open them while it loads, and answers requests that come as messages. */
import { makeDynamo } from '../../../lambdas/platform/aws/dynamo.ts';
import { makeKms } from '../../../lambdas/platform/aws/kms.ts';
import { makeKeyring } from '../../../lambdas/platform/keyring.ts';
import { systemTime } from '../../../lambdas/platform/timer.ts';

/** The time for which the process was frozen, in milliseconds. */
let frozenFor = 0;
const now = () => Date.now() + frozenFor;
const keyring = makeKeyring({ dynamo: makeDynamo(), kms: makeKms(), table: 'Keyring', ...systemTime, now });
keyring.openEarly('mac');

process.once('disconnect', () => process.exit());
process.on('message', async (message: { frozenFor: number }) => {
  frozenFor = message.frozenFor;
  try {
    const key = await keyring.active('mac');
    process.send?.({ keyId: key.keyId, bytes: (await keyring.open(key)).symmetricKeySize });
  } catch (error) {
    process.send?.({ failed: String(error) });
  }
});
process.send?.('loaded');
