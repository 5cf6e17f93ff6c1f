import type { Outcome, VirtualCloud } from '@emissor/cloud/virtual';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import { authorizationBinding, isEventName, secretBinding } from '../../../lambdas/webhooks/webhook.ts';
import type { Account, Publication } from '../arrival.ts';
import { type Encrypted, type OperatorWork, operatorName } from '../functions/operator.ts';
import type { Receivers } from '../receivers.ts';
import type { Request } from '../requests.ts';
import { minute } from '../times.ts';
import type { WatchedTables } from '../watched-tables.ts';
import { integrate, readHistory } from './integrators.ts';
import { planOperators } from './operators.ts';

/** An executed command of an operator. */
export interface DoneWork {
  readonly asked: OperatorWork;
  readonly beganAt: number;
  /** The time at which the command ended, or `Infinity` while it runs. */
  answeredAt: number;
}

/** Creates the integrators and operators of a world. Records the operators' commands and decrypts the webhooks' secrets. */
export function makePeople({
  seed,
  cloud,
  accounts,
  publications,
  receivers,
  watched,
  request,
}: {
  readonly seed: number;
  readonly cloud: VirtualCloud;
  readonly accounts: readonly Account[];
  readonly publications: readonly Publication[];
  readonly receivers: Pick<Receivers, 'add'>;
  readonly watched: WatchedTables;
  readonly request: Request;
}) {
  const restless = accounts.filter(({ isRestless }) => isRestless);
  const works: DoneWork[] = [];
  const plaintexts = new Map<string, string>();
  const found = new Map<string, string>();
  const failures: unknown[] = [];
  return {
    begin,
    /** Returns the plaintext of an encrypted text. */
    open: (encrypted: unknown) => plaintexts.get(String(encrypted)),
    /** Returns the verdicts of `events find` for a sample of events at the end, by delivery id. */
    found: (): ReadonlyMap<string, string> => found,
    wasDeleted,
    isShutOut,
    works: (): readonly Readonly<DoneWork>[] => works,
    failures: (): readonly unknown[] => failures,
  };

  /** Returns whether an account was deleted after a time, or is being deleted. */
  function wasDeleted(account: string, after: number): boolean {
    return works.some(
      ({ asked, answeredAt }) => asked.work === 'deleteAccount' && asked.account === account && after < answeredAt,
    );
  }

  /** Returns whether an account did not exist at some time of a period. */
  function isShutOut(account: string, from: number, until: number): boolean {
    const isOwn = (work: OperatorWork['work']) =>
      works.filter(({ asked }) => asked.work === work && 'account' in asked && asked.account === account);
    const [deletions, admissions] = [isOwn('deleteAccount'), isOwn('admit')];
    return deletions.some(
      ({ beganAt }) =>
        beganAt <= until && !admissions.some(({ answeredAt }) => beganAt < answeredAt && answeredAt < from),
    );
  }

  /** Schedules the actions of integrators and operators. At `lastLook`, they read the results. */
  function begin(startedAt: number): void {
    const pause = (milliseconds: number) =>
      new Promise<void>(resolve => void cloud.at(cloud.now() + milliseconds, resolve));
    const world = {
      startedAt,
      now: cloud.now,
      pause,
      request,
      addReceiver: receivers.add,
      lastLook,
      replays: [],
      eventsOf,
    };
    for (const [index, account] of restless.entries()) {
      run(() => integrate(account, seed * 1_009 + index, world));
    }
    for (const { at, asked } of planOperators(seed, restless))
      cloud.at(startedAt + at, () => run(() => operate(asked)));
    cloud.at(startedAt + lastLook, () =>
      run(async () => {
        await decryptAll();
        await findEvents();
        for (const account of restless) await readHistory(account, { request });
      }),
    );

    function eventsOf(account: string): readonly string[] {
      const sent = publications.filter(({ account: id, at }) => id === account && startedAt + at < cloud.now());
      return sent.map(({ deliveryId }) => deliveryId);
    }
  }

  function run(act: () => Promise<void>): void {
    act().catch(error => failures.push(error));
  }

  async function operate(asked: OperatorWork): Promise<void> {
    const work = { asked, beganAt: cloud.now(), answeredAt: Number.POSITIVE_INFINITY };
    works.push(work);
    await ask(asked);
    work.answeredAt = cloud.now();
  }

  async function decryptAll(): Promise<void> {
    const encrypted = encryptedTexts();
    const texts = await ask({ work: 'open', encrypted });
    for (const [at, { text }] of encrypted.entries()) plaintexts.set(text, String(texts[at]));
  }

  /** Runs `events find` for one event in 20 and for all malformed events. */
  async function findEvents(): Promise<void> {
    const wanted = publications.filter(({ isMalformed }, index) => isMalformed || index % 20 === 0);
    const deliveryIds = [...new Set(wanted.map(({ deliveryId }) => deliveryId))];
    const verdicts = await ask({ work: 'find', deliveryIds });
    for (const [at, id] of deliveryIds.entries()) found.set(id, String(verdicts[at]));
  }

  async function ask(asked: OperatorWork): Promise<readonly unknown[]> {
    const outcome = await new Promise<Outcome>(resolve => cloud.function(operatorName).invoke(asked, resolve));
    if (outcome.status !== 'answered') throw new Error(`${asked.work} ${outcome.status}`);
    const answer: unknown = outcome.result;
    return Array.isArray(answer) ? answer : [];
  }

  /** Returns the encrypted texts of all webhook versions so far. */
  function encryptedTexts(): readonly Encrypted[] {
    const found = new Map<string, Encrypted>();
    for (const { item } of [...watched.changesOf('Webhooks').values()].flat()) {
      for (const one of item ? encryptedIn(item) : []) found.set(one.text, one);
    }
    return [...found.values()];
  }
}

/** The time at which integrators and operators read the results, in milliseconds after the start. */
export const lastLook = 73 * minute;

function encryptedIn({ accountId, eventName: event, secrets, encryptedAuthorization }: Item): readonly Encrypted[] {
  const [account, eventName] = [String(accountId), String(event)];
  if (!isEventName(eventName)) return [];
  const list: readonly { readonly encrypted: string }[] = Array.isArray(secrets) ? secrets : [];
  return [
    ...list.map(({ encrypted }) => ({ text: encrypted, binding: secretBinding(account, eventName) })),
    ...(encryptedAuthorization === undefined
      ? []
      : [{ text: String(encryptedAuthorization), binding: authorizationBinding(account, eventName) }]),
  ];
}
