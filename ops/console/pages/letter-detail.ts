import { type Html, html } from '../html.ts';
import type { Context } from '../page.ts';

/**
 * Writes why a message was refused, in the page's language. The service says it in English, `field: problem; field: problem`, since its
 * publishers read that.
 */
export function detailIn({ language }: Context, detail: string | null): Html | string {
  if (detail === null) return '–';
  const problems = detail.split('; ').map(problem => {
    const [, field, what = problem] = /^(\w+): (.+)$/s.exec(problem) ?? [];
    return { field, what: language === 'pt' ? portuguese(what) : what };
  });
  return html`${problems.map(({ field, what }, at) => html`${at > 0 && '; '}${field !== undefined && html`<code>${field}</code>: `}${what}`)}`;
}

function portuguese(problem: string): string {
  for (const [pattern, said] of sentences) if (pattern.test(problem)) return problem.replace(pattern, said);
  return problem;
}

/** The problems that `lambdas/delivery/intake` and a redrive tell; a test goes through all of them. */
const sentences: readonly (readonly [english: RegExp, portuguese: string])[] = [
  [/^the message is not a JSON object$/, 'a mensagem não é um objeto JSON'],
  [
    /^its account registered the webhook after it was sent: .*$/,
    'a conta registrou o webhook depois do envio: peça uma nova publicação',
  ],
  [/^is missing$/, 'falta'],
  [/^must be a string$/, 'deve ser um texto'],
  [/^must be one of /, 'deve ser um de '],
  [/^must be a whole number from 1 to 2\^53 - 1$/, 'deve ser um número inteiro de 1 a 2^53 - 1'],
  [
    /^must be a string of 1 to (\d+) letters, digits, _ or -, and not (\w+)$/,
    'deve ser um texto de 1 a $1 letras, dígitos, _ ou -, e não $2',
  ],
  [
    /^must be a string of 1 to (\d+) characters that matches /,
    'deve ser um texto de 1 a $1 caracteres que corresponde a ',
  ],
  [/^must be a string of 1 to (\d+) characters$/, 'deve ser um texto de 1 a $1 caracteres'],
  [
    /^an SNS topic asks to confirm its subscription, .*$/,
    'um tópico SNS pede que a assinatura seja confirmada, o que o Emissor não faz: a conta da fila de eventos deve assinar',
  ],
  [
    /^this is the envelope of an SNS topic: .*$/,
    'este é o envelope de um tópico SNS: ative a entrega bruta (raw message delivery) na assinatura',
  ],
  [
    /^this is the envelope of an EventBridge rule: .*$/,
    'este é o envelope de uma regra do EventBridge: dê ao alvo o InputPath $$.detail, ou um transformador de entrada',
  ],
];
