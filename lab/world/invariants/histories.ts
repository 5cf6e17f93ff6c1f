import type { AttemptRecord, Delivery } from '../../../lambdas/delivery/delivery.ts';
import { wireStates } from '../../../lambdas/delivery/representation.ts';
import type { World } from '../make-world.ts';
import { lastLook } from '../people/people.ts';
import type { Answered } from '../requests.ts';
import type { Evidence } from './evidence.ts';
import type { Judgement, Violate } from './violation.ts';

/** Judges that what receivers answered is kept, and that the API shows each delivery as it is. */
export function judgeHistories(
  { answered }: World,
  began: number,
  evidence: () => Evidence,
  violate: Violate,
): Judgement {
  return { judgeEnd };

  function judgeEnd(): void {
    const deliveries = new Map<string, Delivery>();
    for (const [id, changes] of evidence().deliveries) {
      const delivery = changes.at(-1)?.delivery;
      if (delivery) deliveries.set(id, delivery);
    }
    for (const delivery of deliveries.values()) {
      for (const record of delivery.attempts) judgeAnswer(delivery.id, record);
    }
    const looks = answered().filter(({ method, sentAt }) => method === 'GET' && sentAt >= began + lastLook);
    for (const look of looks) judgeLook(look, deliveries);
    for (const account of new Set(looks.map(look => look.account))) judgeList(account, looks, deliveries);
  }

  function judgeAnswer(id: string, record: AttemptRecord): void {
    if (record.status !== null && !evidence().postOf(id, record))
      violate(`the answer to attempt ${record.number} is not kept`, id);
  }

  function judgeLook({ path, status, answer }: Answered, deliveries: ReadonlyMap<string, Delivery>): void {
    const [, id = ''] = /\/entregas\/([^/?]+)$/.exec(path) ?? [];
    const delivery = deliveries.get(id);
    if (id === '') return;
    if (!delivery || status !== 200) {
      violate('listed, and not shown', id);
      return;
    }
    const { estado, corpo, tentativas } = answer;
    if (estado !== wireStates[delivery.state] || corpo !== delivery.body) violate('shown otherwise than it is', id);
    const shown: readonly Shown[] = Array.isArray(tentativas) ? tentativas : [];
    if (shown.map(({ numero }) => numero).join() !== delivery.attempts.map(({ number }) => number).join()) {
      violate('shown with other attempts', id);
    }
    for (const { numero, status: answeredWith, resposta } of shown) {
      const record = delivery.attempts.find(({ number }) => number === numero);
      if (record) judgeAnswer(id, { ...record, status: answeredWith, response: resposta, answerId: undefined });
    }
  }

  function judgeList(account: string, looks: readonly Answered[], deliveries: ReadonlyMap<string, Delivery>): void {
    const pages = looks.filter(look => look.account === account && look.path.includes('/entregas?'));
    const listed = pages.flatMap(({ answer: { entregas } }) => (Array.isArray(entregas) ? entregas : []));
    const ids = new Set(listed.map(({ id }: { readonly id: unknown }) => String(id)));
    if (ids.size < listed.length) violate(`${account} is shown a delivery twice`);
    for (const { id, accountId } of deliveries.values()) {
      if (accountId === account && !ids.delete(id)) violate('not in the list of its webhook', id);
    }
    for (const id of ids) violate('listed, though it is not there', id);
  }
}

interface Shown {
  readonly numero: number;
  readonly status: number | null;
  readonly resposta: string | null;
}
