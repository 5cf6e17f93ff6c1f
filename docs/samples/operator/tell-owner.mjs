/**
 * Makes a Lambda function on the topic of the output OperationsTopicArn, which tells the owner of a webhook how it does. Both
 * functions are yours: `addressOf` finds where an account is written to, and `send` writes there. A notice may come twice.
 */
export function makeHandler(addressOf, send) {
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
