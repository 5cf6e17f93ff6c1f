/**
 * Returns a Lambda handler for messages from the topic in the output OperationsTopicArn. The handler notifies the owner of each
 * webhook. `addressOf` returns the address of an account, and `send` sends a text to an address. A message may arrive twice.
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
