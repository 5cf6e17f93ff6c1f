import { beforeAll, expect, it } from 'vitest';
import { createClient } from '../support/e2e-accounts.ts';
import { until } from '../support/e2e-poll.ts';
import { type Answer, type Receiver, startReceiver } from '../support/e2e-receiver.ts';
import { describeWith } from '../support/e2e-target.ts';
import { callApi, openSession, register, type Session } from '../support/e2e-webhooks.ts';

const evento = 'demanda.criada';
const base = `/v1/webhooks/${evento}`;

/** A text that would keep a search that begins again and again busy for half a minute. */
const adversarial = `${'\\'.repeat(26)}b`;

describeWith(['names'], 'what a receiver answers', () => {
  let receiver: Receiver;
  let session: Session;

  beforeAll(async () => {
    receiver = await startReceiver('echo');
    session = await openSession(await createClient());
    return () => receiver.stop();
  });

  /** Sends a test to a receiver with this answer, and returns the attempt as the history shows it. */
  const attemptWith = async (autorizacao: string, answer: Answer) => {
    receiver.script('/echo', answer);
    await register(session, { evento, url: receiver.url('/echo'), autorizacao });
    const { json } = await callApi('POST', `${base}/teste`, { token: session.token });
    const attempt = await until('the attempt', async () => {
      const shown = await callApi('GET', `${base}/entregas/${json?.id}`, { token: session.token });
      const attempts = shown.json?.tentativas;
      return Array.isArray(attempts) && attempts.length > 0 ? attempts[0] : undefined;
    });
    await callApi('DELETE', base, { token: session.token });
    return attempt;
  };

  const pair = Buffer.from('user:correct-horse').toString('base64');

  it.each([
    ['the value', 'Bearer s3cr3t/t0ken', '{"h":"Bearer s3cr3t\\/t0ken"}', '{"h":"***"}'],
    ['what Basic encodes', `Basic ${pair}`, 'user:correct-horse, correct-horse', '***, ***'],
    ['what is cut off', 'Bearer s3cr3t/t0ken', `${'x'.repeat(1_018)}s3cr3t/t0ken`, `${'x'.repeat(1_018)}***`],
    ['backslashes', adversarial, '\\'.repeat(52), '\\'.repeat(52)],
  ])('is kept with %s masked', async (_case, autorizacao, body, resposta) => {
    const attempt = await attemptWith(autorizacao, { status: 200, body });
    expect(attempt).toMatchObject({ resultado: 'entregue', status: 200, resposta });
  });

  it('counts from its headers on, however slowly it comes', async () => {
    const attempt = await attemptWith('Bearer s3cr3t/t0ken', 'trickle');
    expect(attempt).toMatchObject({ resultado: 'entregue', status: 200 });
  });
});
