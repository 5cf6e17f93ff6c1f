import { createHash } from 'node:crypto';
import { isoTime } from '../../lambdas/platform/clock.ts';
import type { Source } from './api-source.ts';
import { style } from './design.ts';
import { Html, type HtmlValue, html } from './html.ts';
import { onceField } from './once.ts';
import { script } from './script.ts';
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
  /** True where the page answers a form. */
  readonly isChange?: boolean;
}

/** A page, without what stands around each. */
export interface Page {
  readonly title: string;
  readonly content: Html;
  /** @default 200 */
  readonly status?: number;
  /** False where there is nothing to renew. @default true */
  readonly isLive?: boolean;
  /** Why the form that the page answers was refused. */
  readonly trouble?: HtmlValue;
  /** True where the page stands for one that could not be read: it makes room for that once it can. */
  readonly hasFailed?: boolean;
  /** Seconds after which it renews itself. @default - those of the source */
  readonly refreshSeconds?: number;
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

export function documentOf(page: Page, context: Context): string {
  const { title, content, isLive = true, refreshSeconds, trouble, hasFailed } = page;
  const { source, language, texts, folder, note } = context;
  const refresh = isLive ? (refreshSeconds ?? source.refreshSeconds) : 0;
  const other = language === 'pt' ? 'en' : 'pt';
  const says = note !== undefined || trouble || content.text.includes(' autofocus');
  return frame(
    { title: `${title} · ${source.host}`, language, refresh, hasFailed },
    html`<a class="skip" href="#content">${texts.skip}</a>
<header class="top"><div class="bar"><span class="brand">Emissor<small>${texts.panel} · ${source.host}</small></span>
<nav class="places" aria-label="Emissor">${placesOf(context).map(
      ([path, name]) =>
        html`<a href="${folder}${path}"${isAt(context.path, path) && html` aria-current="page"`}>${name}</a>`,
    )}</nav>
<div class="tools">${!isAt(context.path, '/find') && html`<form class="search" role="search" method="get" action="${folder}/find"><input type="search" name="id" required maxlength="300" autocomplete="off" aria-label="${texts.find}" placeholder="${texts.findById}"></form>`}
<a lang="${localeOf(other)}" href="${folder}/language?to=${other}&amp;back=${encodeURIComponent(context.path)}">${texts.otherLanguage}</a>
<form method="post" action="${folder}/sign-out"><button>${texts.signOut}</button></form></div></div></header>
<p id="banner" class="banner" role="alert" data-trouble="${texts.notRenewed}" hidden></p>
<main id="content" tabindex="-1"${context.isChange && !says && html` autofocus`}>${note !== undefined && html`<p class="note" role="status" tabindex="-1" autofocus>${note}</p>`}${trouble && troubleNote(context, trouble)}${content}</main>
<footer>${texts.renewed} <span id="renewed" data-kept="${texts.kept}">${clockOf(context)}</span></footer>`,
  );
}

/** Writes why something did not work. After a form the focus is there: what happened is read first. */
export function troubleNote({ isChange }: Context, message: HtmlValue): Html {
  return html`<p class="note trouble" role="alert" tabindex="-1"${isChange && html` autofocus`}>${message}</p>`;
}

/** Writes the page that takes the token of a link. */
export function entryDocument(texts: Texts, language: Language, trouble?: string): string {
  return frame(
    { title: texts.entryTitle, language, refresh: 0 },
    html`<main id="content" class="entry"><div class="card"><h1>${texts.entryTitle}</h1><p class="lead">${texts.entryLead}</p>
${trouble && html`<p class="note trouble" role="alert">${trouble}</p>`}
<form id="entry" class="row" method="post" action="/"><label>${texts.token}<input name="token" type="password" autocomplete="off" required autofocus></label>
<button class="main">${texts.enter}</button></form></div></main>`,
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

/** Writes a card: a heading, what stands beside it, and its content. With an id it is told from others when the page renews itself. */
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
  /** True where a phone shows it in the one line of the row: state, time, result. */
  readonly isBrief?: boolean;
}

function classOf({ isNumber, isBrief }: Column<never>): HtmlValue {
  const names = [isNumber && 'number', isBrief && 'brief'].filter(name => name);
  return names.length > 0 && html` class="${names.join(' ')}"`;
}

export function facts(rows: readonly (readonly [term: HtmlValue, value: HtmlValue])[]): Html {
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
export function badge({ texts }: Context, word: string): Html {
  const meaning = textFor(texts, 'word', word) ?? word;
  return html`<span class="badge ${tones[word]}">${meaning}</span>${meaning.toLowerCase() !== word && html` <small class="wire">${word}</small>`}`;
}

/** Writes a text that may be long in one line: the rest shows on hover, and a button copies it. */
export function oneLine({ texts }: Context, text: string, shown: HtmlValue = text): Html {
  return html`<span class="one-line"><span class="code" title="${text}">${shown}</span><button type="button" class="copy" data-copy="${text}" aria-label="${texts.copy} ${text}" hidden>${texts.copy}</button></span>`;
}

/** Writes a button that changes something, once. It is left out if the token may only read. */
export function button(
  { source, folder }: Context,
  path: string,
  label: string,
  kind: 'main' | 'danger' | '' = '',
  fields: Readonly<Record<string, string>> = {},
): HtmlValue {
  const hidden = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return (
    source.mayChange &&
    html`<form method="post" action="${folder}${path}">${onceField()}${hidden}<button class="${kind}">${label}</button></form>`
  );
}

/** Writes a number as people of the language do. */
export function number({ language }: Context, count: number): string {
  return count.toLocaleString(locales[language]);
}

export function link({ folder }: Context, path: string, label: HtmlValue): Html {
  return html`<a href="${folder}${path}">${label}</a>`;
}

/** Writes the way to a page. */
export function crumbs(context: Context, steps: readonly (readonly [path: string, name: string])[]): Html {
  return html`<p class="crumbs">${steps.map(([path, name], at) => [at > 0 && ' / ', link(context, path, name)])}</p>`;
}

/** Returns the steps to a page: the webhooks, and the webhook of an event. */
export function stepsTo({ texts }: Context, event?: string): readonly (readonly [path: string, name: string])[] {
  return [['/', texts.webhooks] as const, ...(event ? [[pathOf({ event }), event] as const] : [])];
}

/** Returns the path of a webhook or a delivery, below the folder. */
export function pathOf({ event, id }: { readonly event: string; readonly id?: string }): string {
  const parts = ['webhooks', event, ...(id === undefined ? [] : ['deliveries', id])];
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

/** Returns the steps of a path, decoded; `undefined` where it is malformed. */
export function stepsOf(path: string): readonly string[] | undefined {
  try {
    return (path.split('?')[0] ?? '').split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

interface Frame {
  readonly title: string;
  readonly language: Language;
  readonly refresh: number;
  readonly hasFailed?: boolean | undefined;
}

function frame({ title, language, refresh, hasFailed }: Frame, body: Html): string {
  return html`<!doctype html>
<html lang="${localeOf(language)}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><link rel="icon" href="data:,"><style>${new Html(style)}</style></head>
<body data-refresh="${refresh}"${hasFailed && html` data-failed`}>${body}<script>${new Html(script)}</script></body></html>
`.text;
}

function placesOf({ texts, say }: Context): readonly (readonly [path: string, name: string])[] {
  return [
    ['/', texts.webhooks],
    ['/find', texts.find],
    ['/first-steps', say('First steps', 'Primeiros passos')],
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
  return formats[language].ago.format(Math.round(seconds / length) || -0, unit);
}

/** Writes when the page was read, with the name of the zone that all its times are of. */
function clockOf({ language, now }: Context): HtmlValue {
  return timeElement(isoTime(now), at => formats[language].clock.format(at));
}

function localeOf(language: Language): string {
  return language === 'pt' ? 'pt-BR' : 'en';
}

function formatsOf(language: Language) {
  const locale = locales[language];
  return {
    clock: new Intl.DateTimeFormat(locale, { timeStyle: 'long', hourCycle: 'h23' }),
    time: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' }),
    ago: new Intl.RelativeTimeFormat(locale, { style: 'short' }),
  };
}

/** The locales by which times and numbers are written. */
export const locales: Readonly<Record<Language, string>> = { en: 'en-US', pt: 'pt-BR' };

const formats: Readonly<Record<Language, ReturnType<typeof formatsOf>>> = {
  pt: formatsOf('pt'),
  en: formatsOf('en'),
};

/** Each with its seconds, and those from which on the next one is said. */
const units = [
  [1, 'second', 90],
  [60, 'minute', 90 * 60],
  [3_600, 'hour', 36 * 3_600],
] as const;

const tones: Readonly<Record<string, string>> = {
  entregue: 'good',
  ativo: 'good',
  falhou: 'bad',
  suspenso: 'held',
  retida: 'held',
  pendente: 'wait',
};

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
