import { type Html, type HtmlValue, html } from './html.ts';
import { type Answer, button, type Context, crumbs, stepsOf, stepsTo, troubleNote } from './page.ts';
import { textFor } from './texts.ts';
import { type DeliveryRow, NotThere, Refusal } from './views.ts';

/** Writes a page that asks before something that touches many, or cannot be undone. */
export function question(context: Context, asked: Question): Answer {
  const { texts, folder } = context;
  const { title, means, verb, kind = 'main', action, cancel, values } = asked;
  return {
    title,
    isLive: false,
    content: html`<div class="card inside asked"><h1>${title}</h1><div class="means">${means}</div>
<div class="actions">${button(context, action, verb, kind, values)}
<a class="button" href="${folder}${cancel}">${texts.cancel}</a></div></div>`,
  };
}

/** A question before an action. Paths lie below the folder; they may have a query. */
interface Question {
  readonly title: string;
  /** The consequence of the action, and the number of things that it changes. */
  readonly means: HtmlValue;
  /** The word on the button: what it does, as `Suspend`. */
  readonly verb: string;
  /** `danger` for what cannot be undone. @default main */
  readonly kind?: 'main' | 'danger';
  /** Where the answer is posted to. */
  readonly action: string;
  /** The page that Cancel leads to. */
  readonly cancel: string;
  readonly values?: Readonly<Record<string, string>>;
}

/** Says of a part of a page that it could not be read, and why: never the text of an empty one. */
export function unreadPart(context: Context, why: HtmlValue): Html {
  return html`<p class="note trouble">${context.texts.unread}: ${why}</p>`;
}

/** Writes figures that are seen first, each as a tile. */
export function tiles(figures: readonly Tile[]): Html {
  return html`<ul class="tiles">${figures.map(({ name, figure, beside }) => html`<li><span class="name">${name}</span><span class="figure">${figure}</span>${beside}</li>`)}</ul>`;
}

interface Tile {
  readonly name: string;
  readonly figure: HtmlValue;
  /** A sentence or a spark line below the figure. */
  readonly beside?: HtmlValue;
}

/** Says which values of an address a page could not take: what is dropped without a word seems to count. */
export function leftOut({ say }: Context, values: readonly (readonly [name: string, value: string])[]): HtmlValue {
  return (
    values.length > 0 &&
    html`<p class="note trouble" role="alert">${say('Not understood, and left out:', 'Não foi entendido e ficou de fora:')} ${values.map(([name, value], at) => html`${at > 0 && ', '}<code>${name}=${value}</code>`)}</p>`
  );
}

/** Returns a JSON text set in lines; nothing where it is none. */
export function inLines(body: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return undefined;
  }
}

/** Writes a word of these pages as a badge: not one of the wire, which `badge` shows beside its meaning. */
export function label(word: string, tone: 'good' | 'bad' | 'wait' | '' = ''): Html {
  return html`<span class="badge ${tone}">${word}</span>`;
}

/** What went wrong, as a page says it. */
export interface Failure {
  readonly message: HtmlValue;
  readonly status: number;
}

export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof NotThere) return { message, status: 404 };
  return { message, status: error instanceof Refusal ? 409 : 502 };
}

/** Writes what went wrong, below the way back to what the address names. */
export function errorPage(context: Context, title: string, message: HtmlValue): Html {
  const [, first, event] = stepsOf(context.path) ?? [];
  const isWebhook = first === 'webhooks' && event !== 'new'; // `new` is the form of one
  return html`${crumbs(context, stepsTo(context, isWebhook ? event : undefined))}<h1>${title}</h1>${troubleNote(context, message)}
<div class="actions"><a class="button" href="${context.folder}/">${context.texts.webhooks}</a><a class="button" href="${context.folder}/find">${context.texts.find}</a></div>`;
}

/** A part of a page, or why it could not be read. */
export interface Part<Value> {
  readonly value?: Value;
  readonly why?: HtmlValue;
}

/** Reads a part: where it fails, the others still say what they know. */
export async function partOf<Value>(reading: Promise<Value>): Promise<Part<Value>> {
  try {
    return { value: await reading };
  } catch (error) {
    return { why: failureOf(error).message };
  }
}

/** Writes what came of the latest attempt of a delivery; nothing where there was none. */
export function resultOf({ texts }: Context, { lastResult, lastStatus }: DeliveryRow): Html {
  return html`${lastResult && (textFor(texts, 'result', lastResult) ?? lastResult)} ${lastStatus && html`<span class="code">${lastStatus}</span>`}`;
}
