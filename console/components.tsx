import type { Child } from 'hono/jsx';
import { messageOf } from './failures.ts';
import { textOf } from './texts/texts.ts';
import { distance, timeFormats } from './times.ts';
import { useView } from './view.ts';

/** Renders a card. The script of an open page refreshes the cards that have an ID. */
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

export function Button(button: {
  action: string;
  kind?: 'main' | 'danger' | 'quiet' | false;
  fields?: Readonly<Record<string, string>>;
  children?: Child;
}) {
  const { canManage, folder } = useView();
  if (!canManage && button.action !== '/sign-out') return null;
  return (
    <form method="post" action={folder + button.action}>
      <Hidden fields={button.fields} />
      <button class={button.kind || undefined}>{button.children}</button>
    </form>
  );
}

export function Form(form: {
  action: string;
  submit: string;
  kind?: 'main' | 'danger';
  fields?: Readonly<Record<string, string>>;
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

export function Link(link: {
  to: string;
  kind?: 'button' | 'button main' | 'button danger' | 'chip' | undefined;
  isChosen?: boolean;
  children?: Child;
}) {
  const { folder, canManage } = useView();
  if (link.kind?.startsWith('button') && !canManage) return null;
  return (
    <a href={folder + link.to} class={link.kind} aria-current={link.isChosen ? 'true' : undefined}>
      {link.children}
    </a>
  );
}

/** Renders a time in the time zone of this computer, with UTC in the tooltip. `both` also shows the relative time. */
export function Time({ at, form = 'both' }: { at: string; form?: 'both' | 'exact' | 'clock' }) {
  const { language, now } = useView();
  const time = Date.parse(at);
  if (Number.isNaN(time)) return <>–</>;
  const formats = timeFormats[language];
  const exact = (form === 'clock' ? formats.clock : formats.exact).format(time);
  return (
    <time datetime={at} title={`${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`}>
      {form === 'both' && `${distance(time - now, formats.distance)} `}
      {form === 'both' ? <small>{exact}</small> : exact}
    </time>
  );
}

export function StateBadge({ state }: { state: string }) {
  return (
    <span class={`badge ${tones[state] ?? ''}`} title={state}>
      {textOf(useView().t.states, state)}
    </span>
  );
}

/** Renders untrusted text, and escapes invisible and bidirectional control characters. A URL may wrap after each part. */
export function Code({ children }: { children: string }) {
  const [first, ...rest] = escapeInvisible(children).split(/(?<=[/.?&_])(?=[^/])/);
  return (
    <code>
      {first}
      {rest.map(part => [<wbr />, part])}
    </code>
  );
}

export function Pre({ children }: { children: string }) {
  return <pre>{escapeInvisible(children)}</pre>;
}

export function CopyButton({ text, of, kind = 'quiet' }: { text: string; of: string; kind?: 'quiet' | 'main' }) {
  const { copy, copied } = useView().t.frame;
  const label = `${copy}: ${of}`;
  return (
    <button type="button" class={`copy ${kind}`} data-copy={text} data-done={copied} aria-label={label} hidden>
      {copy}
    </button>
  );
}

export function Verification() {
  const { t } = useView();
  return (
    <details>
      <summary>{t.secret.verify}</summary>
      <Pre>{`import { Webhook } from 'standardwebhooks';\nnew Webhook(SEGREDOS[JSON.parse(body).event]).verify(body, request.headers);`}</Pre>
      <p class="muted">{t.secret.libraries}</p>
    </details>
  );
}

export function LoadError({ error }: { error: unknown }) {
  const { t } = useView();
  return <p class="note failed inside">{`${t.failures.unread} ${messageOf(t, error)}`}</p>;
}

export function Facts({ rows }: { rows: readonly (readonly [name: Child, value: Child] | false | undefined)[] }) {
  return (
    <dl class="facts">
      {rows.map(
        row =>
          row &&
          row[1] !== '–' && (
            <div>
              <dt>{row[0]}</dt>
              <dd>{row[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

export function Table<Row>(table: {
  columns: readonly (readonly [name: string, value: (row: Row) => Child, kind?: string])[];
  rows: readonly Row[];
  empty?: string;
}) {
  if (table.rows.length === 0) return <p class="empty">{table.empty}</p>;
  const cells = table.columns.map(([name, value, kind = '']) => ({ name, kind, values: table.rows.map(value) }));
  const columns = cells.filter(({ values }) => values.some(value => value !== '–'));
  return (
    <table>
      <thead>
        <tr>
          {columns.map(({ name, kind }) => (
            <th scope="col" class={kind}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((_, at) => (
          <tr>
            {columns.map(({ name, kind, values }) => (
              <td data-label={name} class={values[at] === '–' ? `none ${kind}` : kind}>
                <div>{values[at]}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Does not escape the zero-width joiners, which some languages need. */
function escapeInvisible(text: string): string {
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
