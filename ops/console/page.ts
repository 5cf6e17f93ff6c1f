import { createHash } from 'node:crypto';
import { style } from './design.ts';
import { Html, type HtmlValue, html } from './html.ts';
import { script } from './script.ts';
import type { Source } from './source.ts';
import { type Language, type Say, type Texts, textFor } from './texts.ts';

/** The parts that a page is made from: the source, the language, what was asked for. */
export interface Context {
  readonly source: Source;
  readonly language: Language;
  readonly texts: Texts;
  readonly say: Say;
  /** The folder under which all pages lie. */
  readonly folder: string;
  /** The path below the folder, and its query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** What the action before this page did. */
  readonly note?: string | undefined;
}

/** A page, without what stands around each. */
export interface Page {
  readonly title: string;
  readonly content: Html;
  /** @default 200 */
  readonly status?: number;
  /** False where there is nothing to renew. @default true */
  readonly isLive?: boolean;
}

/** The path below the folder to go to, and what the next page says once: what was done. */
export interface Redirect {
  readonly location: string;
  readonly note?: string;
}

/** An answer of a page: itself, or another page to go to. */
export type Answer = Page | Redirect;

/** The values of a path's named parts. */
export type Parameters = Readonly<Record<string, string>>;

/** A page, or what a form does. The values are those of the query, or of the form. */
export type Handler = (context: Context, parameters: Parameters, values: URLSearchParams) => Promise<Answer>;

export function documentOf({ title, content, isLive = true }: Page, context: Context): string {
  const { source, language, texts, folder, now } = context;
  const refresh = isLive ? source.refreshSeconds : 0;
  const other = language === 'pt' ? 'en' : 'pt';
  return frame(
    { title: `${title} · ${source.label}`, language, refresh },
    html`<a class="skip" href="#content">${texts.skip}</a>
<header class="top"><div class="bar"><span class="brand">Emissor<small>${texts.console} · ${source.label}</small></span>
<nav class="places" aria-label="Emissor">${placesOf(context).map(
      ([path, name]) =>
        html`<a href="${folder}${path}"${new Html(isAt(context.path, path) ? ' aria-current="page"' : '')}>${name}</a>`,
    )}</nav>
<a class="languages" lang="${other === 'pt' ? 'pt-BR' : 'en'}" href="${folder}/language?to=${other}&amp;back=${encodeURIComponent(context.path)}">${texts.otherLanguage}</a></div></header>
<main id="content">${context.note !== undefined && html`<p class="note" role="status">${context.note}</p>`}${content}</main>
<footer><span id="renewed" data-trouble="${texts.notRenewed}">${texts.renewed} <time datetime="${new Date(now).toISOString()}">${new Date(now).toISOString().slice(11, 19)} UTC</time></span></footer>`,
  );
}

/** Writes the page that takes the token of a link. */
export function entryDocument(texts: Texts, language: Language, trouble?: string): string {
  return frame(
    { title: texts.entryTitle, language, refresh: 0 },
    html`<main id="content"><h1>${texts.entryTitle}</h1><p class="lead">${texts.entryLead}</p>
${trouble && html`<p class="note trouble" role="alert">${trouble}</p>`}
<form id="entry" class="row" method="post" action="/"><label>${texts.token}<input name="token" type="password" autocomplete="off" required></label>
<button class="main">${texts.enter}</button></form></main>`,
  );
}

/** The policy of all pages: their own style and script, requests to themselves, and nothing else. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src '${hashOf(style)}'`,
  `script-src '${hashOf(script)}'`,
  "connect-src 'self'",
  "form-action 'self'",
  'img-src data:',
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Writes a card: a heading, what stands beside it, and its content. With an id it renews itself. */
export function card(
  heading: HtmlValue,
  content: HtmlValue,
  { id, beside }: { readonly id?: string; readonly beside?: HtmlValue } = {},
): Html {
  return html`<section class="card"${id !== undefined && html` id="${id}" data-live`}><header><h2>${heading}</h2>${beside}</header>${content}</section>`;
}

/**
 * Writes a table whose columns align; on a phone each row is a list. Where columns are brief, a row is one line there: these, and the
 * others when it is tapped.
 */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], empty: string): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const isCompact = columns.some(({ isBrief }) => isBrief);
  return html`<table${isCompact && html` class="compact"`}><thead><tr>${isCompact && html`<th class="more"></th>`}${columns.map(column => html`<th scope="col"${classOf(column)}>${column.heading}</th>`)}</tr></thead>
<tbody>${rows.map(
    row =>
      html`<tr>${isCompact && html`<td class="more brief"><details><summary aria-label="${columns.map(({ heading }) => heading).join(', ')}"></summary></details></td>`}${columns.map(column => html`<td data-label="${column.heading}"${classOf(column)}><span>${column.value(row)}</span></td>`)}</tr>`,
  )}</tbody></table>`;
}

export interface Column<Row> {
  readonly heading: string;
  readonly value: (row: Row) => HtmlValue;
  readonly isNumber?: boolean;
  /** True for sentences, which need width to be read. */
  readonly isText?: boolean;
  /** True where a phone shows it in the one line of the row: state, time, result. */
  readonly isBrief?: boolean;
}

function classOf({ isNumber, isText, isBrief }: Column<never>): HtmlValue {
  const names = [isNumber && 'number', isText && 'text', isBrief && 'brief'].filter(name => name);
  return names.length > 0 && html` class="${names.join(' ')}"`;
}

export function facts(rows: readonly (readonly [term: string, value: HtmlValue])[]): Html {
  return html`<dl class="facts">${rows.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value ?? '–'}</dd></div>`)}</dl>`;
}

/** Writes a time as people say it, with the exact one beside. */
export function timeOf(time: string | null | undefined, context: Context): HtmlValue {
  return timeElement(time, at => html`${ago(at, context)} <small>${localTime(at, context)}</small>`);
}

/** Writes an exact time alone, such as the end of a range. */
export function exactTimeOf(time: string | null | undefined, context: Context): HtmlValue {
  return timeElement(time, at => localTime(at, context));
}

/** Writes what a word of the wire means as a badge, with the word beside; colour never says alone what the word says. */
export function badge({ texts }: Context, word: string, tone = tones[word] ?? ''): Html {
  const meaning = textFor(texts, 'word', word) ?? word;
  return html`<span class="badge ${tone}">${meaning}</span>${meaning.toLowerCase() !== word && html` <small class="wire">${word}</small>`}`;
}

/** Writes a text that may be long in one line: the rest shows on hover, and a button copies it. */
export function oneLine({ texts }: Context, text: string, shown: HtmlValue = text): Html {
  return html`<span class="one-line"><span class="code" title="${text}">${shown}</span><button type="button" class="copy" data-copy="${text}" aria-label="${texts.copy} ${text}" hidden>${texts.copy}</button></span>`;
}

/** Writes a button that changes something. It is left out where the credentials may only read. */
export function button(
  { source, folder }: Context,
  path: string,
  label: string,
  kind: 'main' | 'danger' | '' = '',
): HtmlValue {
  return (
    source.mayChange &&
    html`<form method="post" action="${folder}${path}"><button class="${kind}">${label}</button></form>`
  );
}

export function link({ folder }: Context, path: string, label: HtmlValue): Html {
  return html`<a href="${folder}${path}">${label}</a>`;
}

/** Writes the way to a page. */
export function crumbs(context: Context, steps: readonly (readonly [path: string, name: string])[]): Html {
  return html`<p class="crumbs">${steps.map(([path, name], at) => [at > 0 && ' / ', link(context, path, name)])}</p>`;
}

/** Returns the path of an account, a webhook or a delivery, below the folder. */
export function pathOf({
  account,
  event,
  id,
}: {
  readonly account: string;
  readonly event?: string;
  readonly id?: string;
}): string {
  const parts = [
    'accounts',
    account,
    ...(event === undefined ? [] : ['webhooks', event]),
    ...(id === undefined ? [] : ['deliveries', id]),
  ];
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

function frame(
  { title, language, refresh }: { readonly title: string; readonly language: Language; readonly refresh: number },
  body: Html,
): string {
  return html`<!doctype html>
<html lang="${language === 'pt' ? 'pt-BR' : 'en'}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><link rel="icon" href="data:,"><style>${new Html(style)}</style></head>
<body data-refresh="${refresh}">${body}<script>${new Html(script)}</script></body></html>
`.text;
}

function placesOf({ source, texts }: Context): readonly (readonly [path: string, name: string])[] {
  if (!source.operator)
    return [
      ['/', texts.webhooks],
      ['/find', texts.find],
    ];
  return [
    ['/', texts.start],
    ['/find', texts.find],
    ['/dead-letters', texts.deadLetters],
    ...(source.operator.sandbox ? [['/sandbox', texts.sandbox] as const] : []),
  ];
}

function isAt(path: string, place: string): boolean {
  return path.split('?')[0] === place;
}

/** Writes a time, with UTC on hover. */
function timeElement(time: string | null | undefined, shown: (at: number) => HtmlValue): HtmlValue {
  const at = Date.parse(time ?? '');
  if (Number.isNaN(at)) return time || '–';
  return html`<time datetime="${time}" title="${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC">${shown(at)}</time>`;
}

/** Returns a time of this machine's zone: the process runs where its reader is. */
function localTime(at: number, { language }: Context): string {
  return formats[language].time.format(at);
}

function ago(at: number, { language, now }: Context): string {
  const seconds = Math.round((at - now) / 1_000);
  const [length, unit] = units.find(([, , most]) => Math.abs(seconds) < most) ?? [86_400, 'day'];
  return formats[language].ago.format(Math.round(seconds / length), unit);
}

function formatsOf(locale: string) {
  return {
    time: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' }),
    ago: new Intl.RelativeTimeFormat(locale, { style: 'short' }),
  };
}

const formats: Readonly<Record<Language, ReturnType<typeof formatsOf>>> = {
  pt: formatsOf('pt-BR'),
  en: formatsOf('en-US'),
};

/** Each with its seconds, and those from which on the next one is said. */
const units = [
  [1, 'second', 90],
  [60, 'minute', 90 * 60],
  [3_600, 'hour', 36 * 3_600],
] as const;

const tones: Readonly<Record<string, string>> = {
  entregue: 'good',
  delivered: 'good',
  ativo: 'good',
  falhou: 'bad',
  failed: 'bad',
  refused: 'bad',
  suspenso: 'held',
  retida: 'held',
  held: 'held',
  pendente: 'wait',
  waiting: 'wait',
  failing: 'bad',
  slow: 'wait',
};

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
