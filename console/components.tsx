import type { Child } from 'hono/jsx';
import { messageOf } from './failures.ts';
import { textOf } from './texts/texts.ts';
import { distance, timeFormats } from './times.ts';
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
  kind?: 'button' | 'button main' | 'button danger' | 'chip' | undefined;
  isChosen?: boolean;
  children?: Child;
}) {
  const { folder, mayChange } = useView();
  if (link.kind?.startsWith('button') && !mayChange) return null;
  return (
    <a href={folder + link.to} class={link.kind} aria-current={link.isChosen ? 'true' : undefined}>
      {link.children}
    </a>
  );
}

/** Writes a time in the zone of this machine, with UTC in its tooltip. `both` puts the distance from now first. */
export function Time({ at, form = 'both' }: { at: string; form?: 'both' | 'exact' | 'clock' }) {
  const { language, now } = useView();
  const moment = Date.parse(at);
  if (Number.isNaN(moment)) return <>–</>;
  const formats = timeFormats[language];
  const exact = (form === 'clock' ? formats.clock : formats.exact).format(moment);
  return (
    <time datetime={at} title={`${new Date(moment).toISOString().slice(0, 19).replace('T', ' ')} UTC`}>
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

export function CopyButton({ text, of }: { text: string; of: string }) {
  const { copy, copied } = useView().t.frame;
  return (
    <button type="button" class="copy quiet" data-copy={text} data-done={copied} aria-label={`${copy}: ${of}`} hidden>
      {copy}
    </button>
  );
}

/** Reports that a part of the page could not be read, and why. */
export function Unread({ error }: { error: unknown }) {
  const { t } = useView();
  return <p class="note failed inside">{`${t.failures.unread} ${messageOf(t, error)}`}</p>;
}

export function Facts({ rows }: { rows: readonly (readonly [name: Child, value: Child] | false | undefined)[] }) {
  return (
    <dl class="facts">
      {rows
        .filter(row => !!row)
        .map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Writes a table; on a phone each row is a block with the names of the columns that have a value. */
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
            {table.columns.map(([name, value, kind = '']) => {
              const shown = value(row);
              return (
                <td data-label={name} class={shown === '–' ? `none ${kind}` : kind}>
                  <div>{shown}</div>
                </td>
              );
            })}
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
