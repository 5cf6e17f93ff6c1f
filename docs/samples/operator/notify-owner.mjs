/**
 * Returns a Lambda handler for messages of the topic in the output OperationsTopicArn, which notifies the owner of a
 * webhook. Implement both functions: `addressOf` finds the address of an account, and `send` writes to it. A notice may arrive twice.
 */
export function createHandler(addressOf, send) {
  return async function handler({ Records }) {
    for (const { Sns } of Records) {
      const { type, accountId, event, since } = JSON.parse(Sns.Message);
      const address = await addressOf(accountId);
      if (address && texts[type]) await send(address, `Webhook ${event}: ${texts[type]} ${since}`);
    }
  };
}

const texts = {
  'webhook.failing': 'nenhuma tentativa deu certo desde',
  'webhook.recovered': 'as entregas voltaram a dar certo; falhavam desde',
  'webhook.suspended': 'está suspenso desde',
  'webhook.reactivated': 'está ativo de novo desde',
};
