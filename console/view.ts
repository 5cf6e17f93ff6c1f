import { type Child, createContext, useContext } from 'hono/jsx';
import type { Api, Service } from './api.ts';
import type { Note, Session } from './sessions.ts';
import type { Texts } from './texts/en.ts';
import type { Language } from './texts/texts.ts';

export interface View {
  readonly api: Api;
  readonly service: Service;
  readonly session: Session;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly mayChange: boolean;
  readonly language: Language;
  readonly t: Texts;
  readonly folder: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly now: number;
  readonly notes: readonly Note[];
  readonly renewSeconds: number;
}

export interface Page {
  readonly title: string;
  readonly heading?: Child;
  readonly actions?: Child;
  readonly lead?: string;
  /** The steps from the list of webhooks to the page, which are no event or one event. */
  readonly crumbs?: readonly string[];
  readonly content: Child;
  readonly status?: number;
  /** The seconds after which the page refreshes itself, or 0 for a page with a form. @default - as in the view */
  readonly renewSeconds?: number;
}

export interface Redirect {
  readonly to: string;
  readonly notes?: readonly Note[];
}

/** A page or an action. `values` are the values of the form. */
export type Handler = (view: View, parameters: Parameters, values: URLSearchParams) => Promise<Page | Redirect>;

interface Parameters {
  readonly event: string;
  readonly id: string;
}

export class NotFound extends Error {}

export const ViewContext = createContext<View | undefined>(undefined);

export function useView(): View {
  const view = useContext(ViewContext);
  if (!view) throw new Error('There is no view.');
  return view;
}

export function pathOf(event: string, id?: string): string {
  const parts = ['webhooks', event, ...(id === undefined ? [] : ['deliveries', id])];
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

export function isLocal({ baseUrl }: Service): boolean {
  return new URL(baseUrl).hostname === '127.0.0.1';
}

/** A part of a page, or the reason why it could not be read while other parts could be read. */
export type Part<Value> =
  | { readonly value: Value; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: unknown };

export async function partOf<Value>(reading: Promise<Value>): Promise<Part<Value>> {
  return reading.then(
    value => ({ value }),
    error => ({ error }),
  );
}
