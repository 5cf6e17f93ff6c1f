import { describe, expect, it } from 'vitest';
import { wireStates } from '../../../../lambdas/delivery/representation.ts';
import { EVENT_NAMES } from '../../../../lambdas/webhooks/webhook.ts';
import type { Source } from '../../../../ops/console/api-source.ts';
import { type Context, documentOf } from '../../../../ops/console/page.ts';
import { answerPage, pages } from '../../../../ops/console/pages/pages.ts';
import { sayingIn, type Texts, textsOf } from '../../../../ops/console/texts.ts';
import { aContext, aSource, delivery } from './a-source.ts';

/*
 * Every page of the table of pages is rendered in Portuguese from texts that are marked. What a reader sees and hears of it, without
 * what is marked, without the data that the source gave, and without what is marked as English, must hold no word.
 */

const [begin, end] = ['\u27e6', '\u27e7'];
const marked = (text: string) => `${begin}${text}${end}`;

/** Returns a source that notes all texts that it gives. */
const listenTo = (source: Source) => {
  const data = new Set<string>([source.host]);
  const note = (value: unknown): void => {
    if (typeof value === 'string' && value !== '') data.add(value);
    if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) note(part);
  };
  const listening = <Value>(value: Value): Value => {
    if (typeof value !== 'object' || value === null) return value;
    return new Proxy(value, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return listening(member);
        return async (...given: unknown[]) => {
          const answer: unknown = await member(...given);
          note(given);
          note(answer);
          return answer;
        };
      },
    });
  };
  return { source: listening(source), data };
};

/** Returns the words of a page that are neither said in Portuguese nor data. */
const strangeWords = (document: string, data: ReadonlySet<string>) => {
  const read = document
    .replace(/<(style|script|title|datalist)\b.*?<\/\1>/gs, ' ')
    .replace(/<(\w+) lang="en"[^>]*>[^<]*<\/\1>/g, ' ')
    .replace(/<time\b.*?<\/time>/gs, ' ')
    .replace(/<(code|pre)\b[^>]*>[^<]*<\/\1>/g, ' ');
  const attributes = [...read.matchAll(/ (?:aria-label|title|placeholder|alt|data-label)="([^"]*)"/g)].map(
    ([, text]) => text,
  );
  const said = [read.replace(/<[^>]*>/g, '\n'), ...attributes]
    .join('\n')
    .replace(new RegExp(`${begin}[^${end}]*${end}`, 'g'), ' ');
  const known = [...data, ...names].toSorted((one, other) => other.length - one.length);
  const rest = known.reduce((text, value) => text.replaceAll(escaped(value), ' '), said);
  return rest.match(/[\p{L}]{2,}/gu) ?? [];
};

/** Names and units that are the same in both languages, and the words of the wire. */
const names = ['Emissor', 'URL', 'UTC', 'p50', 'p99', ' ms', ' s', ...EVENT_NAMES, ...Object.values(wireStates)];

const escaped = (text: string) =>
  text.replace(
    /[&<>"']/g,
    character => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[character] ?? '',
  );

const render = async (source: Source, pattern: string, form: boolean) => {
  const { source: listened, data } = listenTo(source);
  const parameters: Record<string, string> = { event: 'demanda.criada', id: delivery.id };
  const path = pattern.replace(/:(\w+)/g, (_, name: string) => parameters[name] ?? name);
  const asked = new URLSearchParams(queries[pattern]);
  for (const value of [...Object.values(parameters), ...asked.keys(), ...asked.values()]) data.add(value);
  const say = sayingIn('pt');
  const context: Context = {
    ...aContext(listened, `${path}?${asked}`, 'pt'),
    texts: Object.fromEntries(
      Object.entries(textsOf('pt')).map(([name, text]) => [name, marked(text)]),
    ) as unknown as Texts,
    say: (english, portuguese) => marked(say(english, portuguese)),
  };
  const answer = await answerPage(context, form ? new URLSearchParams(forms[pattern]) : null).catch(error => error);
  if (answer instanceof Error) return answer.name === 'Refusal' ? strangeWords(answer.message, data) : [answer.stack];
  if ('location' in answer) return answer.note === undefined ? [] : strangeWords(answer.note, data);
  return strangeWords(documentOf(answer, context), data);
};

/** What the pages are asked for, where they show something only then. */
const queries: Readonly<Record<string, string>> = {
  '/find': `id=${delivery.id}`,
  '/webhooks/:event': 'since=2026-02-31T00:00',
  '/webhooks/:event/replay': 'state=falhou',
};
const forms: Readonly<Record<string, string>> = {
  '/webhooks/:event/replay': 'state=falhou',
  '/first-steps/send': 'event=demanda.criada',
};

describe('a page in Portuguese says nothing in another language', () => {
  const roles = [
    ['who may change', aSource()],
    ['who may only read', aSource({ mayChange: false })],
  ] as const;
  describe.each(roles)('to %s', (_, source) => {
    it.each(pages.map(([pattern]) => pattern))('%s', async pattern => {
      expect(await render(source, pattern, false)).toEqual([]);
    });

    it.each(pages.flatMap(([pattern, , change]) => (change ? [pattern] : [])))(
      'after the form of %s',
      async pattern => {
        expect(await render(source, pattern, true)).toEqual([]);
      },
    );
  });
});
