import { type Html, html } from './html.ts';
import type { Answer, Context } from './page.ts';
import type { OperatorSource } from './source.ts';
import { Refusal } from './views.ts';

/** Writes a page that asks before something that touches many, or cannot be undone. */
export function question(
  { texts, folder }: Context,
  asked: string,
  means: ReturnType<typeof html>,
  back: string,
  action: string,
  values: Readonly<Record<string, string>> = {},
): Answer {
  return {
    title: asked,
    isLive: false,
    content: html`<h1>${asked}</h1><p class="lead">${means}</p>
<div class="actions"><form method="post" action="${folder}${back}${action}">${Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}<button class="main">${texts.yes}</button></form>
<a class="button" href="${folder}${back}">${texts.cancel}</a></div>`,
  };
}

/** Writes what went wrong. */
export function errorPage({ texts }: Context, message: string, isRepeated = false): Html {
  return html`<h1>${isRepeated ? texts.unreachable : texts.refused}</h1><p class="note trouble" role="alert">${message}</p>${isRepeated && html`<p class="lead">${texts.tryAgain}</p>`}`;
}

/** Returns what only operators see. @throws {Refusal} for an integrator. */
export function operatorOf({ source, texts }: Context): OperatorSource {
  if (!source.operator) throw new Refusal(texts.notFound);
  return source.operator;
}
