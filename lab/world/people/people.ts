import type { Outcome, VirtualCloud } from '@emissor/cloud/virtual';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import { authorizationBinding, isEventName, secretBinding } from '../../../lambdas/webhooks/webhook.ts';
import type { Account, Publication } from '../arrival.ts';
import { type Encrypted, type OperatorCommand, operatorName } from '../functions/operator.ts';
import type { Receivers } from '../receivers.ts';
import type { Request } from '../requests.ts';
import { minute } from '../times.ts';
import type { WatchedTables } from '../watched-tables.ts';
import { integrate, readHistory } from './integrators.ts';
import { planOperators } from './operators.ts';

export interface ExecutedCommand {
  readonly command: OperatorCommand;
  readonly startedAt: number;
  /** The time at which the command ended, or `Infinity` while it runs. */
  endedAt: number;
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
  const modified = accounts.filter(({ isModified }) => isModified);
  const commands: ExecutedCommand[] = [];
  const plaintexts = new Map<string, string>();
  const verdicts = new Map<string, string>();
  const failures: unknown[] = [];
  return {
    start,
    /** Returns the plaintext of an encrypted text. */
    decrypt: (encrypted: unknown) => plaintexts.get(String(encrypted)),
    /** Returns the verdicts of `events find` for a sample of events at the end, by delivery id. */
    findVerdicts: (): ReadonlyMap<string, string> => verdicts,
    wasDeleted,
    wasAbsent,
    commands: (): readonly Readonly<ExecutedCommand>[] => commands,
    failures: (): readonly unknown[] => failures,
  };

  /** Returns whether an account was deleted after the time `after`, or is being deleted. */
  function wasDeleted(account: string, after: number): boolean {
    return commands.some(
      ({ command, endedAt }) => command.name === 'deleteAccount' && command.account === account && after < endedAt,
    );
  }

  /** Returns whether an account was missing at any time in a period. */
  function wasAbsent(account: string, from: number, until: number): boolean {
    const commandsNamed = (name: OperatorCommand['name']) =>
      commands.filter(({ command }) => command.name === name && 'account' in command && command.account === account);
    const [deletions, creations] = [commandsNamed('deleteAccount'), commandsNamed('createAccount')];
    return deletions.some(
      ({ startedAt }) => startedAt <= until && !creations.some(({ endedAt }) => startedAt < endedAt && endedAt < from),
    );
  }

  /** Schedules the actions of integrators and operators. At `reviewAt`, they read the results. */
  function start(startedAt: number): void {
    const pause = (milliseconds: number) =>
      new Promise<void>(resolve => void cloud.at(cloud.now() + milliseconds, resolve));
    const world = {
      startedAt,
      now: cloud.now,
      pause,
      request,
      addReceiver: receivers.add,
      reviewAt,
      replays: [],
      eventsOf,
    };
    for (const [index, account] of modified.entries()) {
      run(() => integrate(account, seed * 1_009 + index, world));
    }
    for (const { at, command } of planOperators(seed, modified))
      cloud.at(startedAt + at, () => run(() => operate(command)));
    cloud.at(startedAt + reviewAt, () =>
      run(async () => {
        await decryptAll();
        await findEvents();
        for (const account of modified) await readHistory(account, { request });
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

  async function operate(command: OperatorCommand): Promise<void> {
    const execution = { command, startedAt: cloud.now(), endedAt: Number.POSITIVE_INFINITY };
    commands.push(execution);
    await invoke(command);
    execution.endedAt = cloud.now();
  }

  async function decryptAll(): Promise<void> {
    const encrypted = encryptedTexts();
    const texts = await invoke({ name: 'decrypt', encrypted });
    for (const [at, { text }] of encrypted.entries()) plaintexts.set(text, String(texts[at]));
  }

  /** Runs `events find` for one event in 20 and for all malformed events. */
  async function findEvents(): Promise<void> {
    const sample = publications.filter(({ isMalformed }, index) => isMalformed || index % 20 === 0);
    const deliveryIds = [...new Set(sample.map(({ deliveryId }) => deliveryId))];
    const results = await invoke({ name: 'find', deliveryIds });
    for (const [at, id] of deliveryIds.entries()) verdicts.set(id, String(results[at]));
  }

  async function invoke(command: OperatorCommand): Promise<readonly unknown[]> {
    const outcome = await new Promise<Outcome>(resolve => cloud.function(operatorName).invoke(command, resolve));
    if (outcome.status !== 'returned') throw new Error(`${command.name} ${outcome.status}`);
    const result: unknown = outcome.result;
    return Array.isArray(result) ? result : [];
  }

  /** Returns the encrypted texts of all webhook versions so far. */
  function encryptedTexts(): readonly Encrypted[] {
    const texts = new Map<string, Encrypted>();
    for (const { item } of [...watched.changesOf('Webhooks').values()].flat()) {
      for (const one of item ? encryptedIn(item) : []) texts.set(one.text, one);
    }
    return [...texts.values()];
  }
}

/** The time at which integrators and operators read the results, in milliseconds after the start. */
export const reviewAt = 73 * minute;

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
