import type { Child } from 'hono/jsx';
import { messageOf } from './failures.ts';
import { textOf } from './texts/texts.ts';
import { useView } from './view.ts';

/** Writes a card. A card with an id is renewed while the page is open. */
export function Card(card: { title?: Child; id?: string; aside?: Child; children?: Child }) {
  return (
    <section class="card" id={card.id} data-live={card.id && ''}>
      {card.title && (
        <header>
          <h2>{card.title}</h2>
          {card.aside}
        </header>
      )}
      {card.children}
    </section>
  );
}

export function Alert({ children }: { children?: Child }) {
  return (
    <p class="note failed" role="alert">
      {children}
    </p>
  );
}

/** Writes one choice of several, as a link to a page. */
export function Chip(chip: { to: string; isChosen: boolean; children?: Child }) {
  return (
    <a class="chip" href={useView().folder + chip.to} aria-current={chip.isChosen ? 'true' : undefined}>
      {chip.children}
    </a>
  );
}

/** Writes a button that posts a form. It is left out if the token may only read, except for signing out. */
export function Button(button: {
  action: string;
  kind?: 'main' | 'danger' | 'quiet' | undefined;
  fields?: Readonly<Record<string, string>>;
  children?: Child;
}) {
  const { mayChange, folder } = useView();
  if (!mayChange && button.action !== '/sign-out') return null;
  return (
    <form method="post" action={folder + button.action}>
      <Hidden fields={button.fields} />
      <button class={button.kind}>{button.children}</button>
    </form>
  );
}

/** Writes a form in a card. Paths are below the folder. */
export function Form(form: {
  action: string;
  submit: string;
  kind?: 'main' | 'danger';
  fields?: Readonly<Record<string, string>>;
  /** The page that Cancel leads to. */
  back: string;
  children?: Child;
}) {
  const { t, folder } = useView();
  return (
    <form class="card inside" method="post" action={folder + form.action} novalidate>
      <Hidden fields={form.fields} />
      {form.children}
      <div class="actions">
        <button class={form.kind ?? 'main'}>{form.submit}</button>
        <Link to={form.back}>{t.frame.cancel}</Link>
      </div>
    </form>
  );
}

function Hidden({ fields = {} }: { fields?: Readonly<Record<string, string>> | undefined }) {
  const { session } = useView();
  const all = Object.entries({ form_token: session.formToken, ...fields });
  return all.map(([name, value]) => <input type="hidden" name={name} value={value} />);
}

/** Writes a link to a page of the console; as a button that leads to a change, it is left out if the token may only read. */
export function Link(link: {
  to: string;
  kind?: 'button' | 'button main' | 'button danger' | undefined;
  children?: Child;
}) {
  const { folder, mayChange } = useView();
  if (link.kind && !mayChange) return null;
  return (
    <a href={folder + link.to} class={link.kind}>
      {link.children}
    </a>
  );
}

/** Writes a time in the zone of this machine, with UTC in its tooltip. `both` puts the distance from now first. */
export function Time({ at, form = 'both' }: { at: string | null; form?: 'both' | 'exact' | 'clock' }) {
  const { language, now } = useView();
  const moment = Date.parse(at ?? '');
  if (Number.isNaN(moment)) return <>–</>;
  const formats = timeFormats[language];
  const exact = (form === 'clock' ? formats.clock : formats.exact).format(moment);
  return (
    <time datetime={at ?? undefined} title={`${new Date(moment).toISOString().slice(0, 19).replace('T', ' ')} UTC`}>
      {form === 'both' ? (
        <>
          {distance(moment - now, formats.distance)} <small>{exact}</small>
        </>
      ) : (
        exact
      )}
    </time>
  );
}

export function Count({ of }: { of: number }) {
  return <>{of.toLocaleString(locales[useView().language])}</>;
}

/** Writes the state of a delivery or a replay; the word of the API is in its tooltip. */
export function StateBadge({ state }: { state: string }) {
  return (
    <span class={`badge ${tones[state] ?? ''}`} title={state}>
      {textOf(useView().t.states, state)}
    </span>
  );
}

/** Writes text from outside: characters that are invisible, or turn the text around, as escapes. */
export function Code({ children }: { children: string }) {
  return <code>{visible(children)}</code>;
}

export function Pre({ children }: { children: string }) {
  return <pre>{visible(children)}</pre>;
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const { t } = useView();
  return (
    <button type="button" class="copy quiet" data-copy={text} data-done={t.frame.copied} aria-label={label} hidden>
      {t.frame.copy}
    </button>
  );
}

/** Reports that a part of the page could not be read, and why. */
export function Unread({ error }: { error: unknown }) {
  const { t } = useView();
  return (
    <p class="note failed inside">
      {t.failures.unread} {messageOf(t, error)}
    </p>
  );
}

export function Facts({ rows }: { rows: readonly (readonly [name: Child, value: Child])[] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Writes a table; on a phone each row is a block with the name of each column. */
export function Table<Row>(table: {
  columns: readonly (readonly [name: string, value: (row: Row) => Child, kind?: 'number'])[];
  rows: readonly Row[];
  empty: string;
}) {
  if (table.rows.length === 0) return <p class="empty">{table.empty}</p>;
  return (
    <table>
      <thead>
        <tr>
          {table.columns.map(([name, , kind]) => (
            <th scope="col" class={kind}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map(row => (
          <tr>
            {table.columns.map(([name, value, kind]) => (
              <td data-label={name} class={kind}>
                <div>{value(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Returns a text with what cannot be seen as escapes. The joiners belong to words and pictures of some languages. */
function visible(text: string): string {
  return text.replace(/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, character => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}

const tones: Readonly<Record<string, string>> = {
  entregue: 'good',
  falhou: 'bad',
  retida: 'held',
  em_andamento: 'wait',
  pendente: 'wait',
};

function distance(milliseconds: number, format: Intl.RelativeTimeFormat): string {
  const seconds = Math.round(milliseconds / 1_000);
  const [length, unit] = units.find(([, , max]) => Math.abs(seconds) < max) ?? [86_400, 'day'];
  return format.format(Math.round(seconds / length) || -0, unit);
}

/** Each unit with its seconds, and the seconds from which on the next one is used. */
const units = [
  [1, 'second', 90],
  [60, 'minute', 90 * 60],
  [3_600, 'hour', 36 * 3_600],
] as const;

const locales = { en: 'en-US', pt: 'pt-BR' } as const;

export const timeFormats = { en: formatsOf(locales.en), pt: formatsOf(locales.pt) };

function formatsOf(locale: string) {
  const exact = { day: 'numeric', month: 'short', year: 'numeric' } as const;
  const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
  return {
    exact: new Intl.DateTimeFormat(locale, { ...exact, ...clock }),
    minute: new Intl.DateTimeFormat(locale, {
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }),
    clock: new Intl.DateTimeFormat(locale, { ...clock, timeZoneName: 'short' }),
    distance: new Intl.RelativeTimeFormat(locale, { style: 'short' }),
  };
}
