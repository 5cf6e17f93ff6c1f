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
  readonly canManage: boolean;
  readonly language: Language;
  readonly t: Texts;
  readonly folder: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly now: number;
  readonly notes: readonly Note[];
  readonly refreshSeconds: number;
}

export interface Page {
  readonly title: string;
  readonly heading?: Child;
  readonly actions?: Child;
  readonly lead?: string;
  /** The events in the breadcrumbs, which always start with the list of webhooks. @default - no breadcrumbs */
  readonly crumbs?: readonly string[];
  readonly content: Child;
  readonly status?: number;
  /** The refresh interval in seconds. 0 turns refreshing off, as on pages with forms. @default - the view's interval */
  readonly refreshSeconds?: number;
}

export interface Redirect {
  readonly to: string;
  readonly notes?: readonly Note[];
}

/** Renders a page or runs an action. `values` are the query parameters of a page or the fields of a form. */
export type Handler = (view: View, parameters: Parameters, values: URLSearchParams) => Promise<Page | Redirect>;

interface Parameters {
  readonly event: string;
  readonly id: string;
}

export class NotFound extends Error {}

export const ViewContext = createContext<View | undefined>(undefined);

export function useView(): View {
  const view = useContext(ViewContext);
  if (!view) throw new Error('useView was called outside ViewContext.Provider.');
  return view;
}

export function pathOf(event: string, id?: string): string {
  const parts = ['webhooks', event, ...(id === undefined ? [] : ['deliveries', id])];
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

export function isLocal({ baseUrl }: Service): boolean {
  return new URL(baseUrl).hostname === '127.0.0.1';
}

/** The data for one part of a page, or the error from its request. An error does not affect the other parts. */
export type Part<Value> =
  | { readonly value: Value; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: unknown };

export async function partOf<Value>(request: Promise<Value>): Promise<Part<Value>> {
  return request.then(
    value => ({ value }),
    error => ({ error }),
  );
}
