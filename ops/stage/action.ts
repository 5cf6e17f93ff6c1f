import type { Task } from './target.ts';

/**
 * An action as programs call it: whatever it writes or shows of a tenant's content is audited. Only `reads`,
 * `writes` and `looks` of `audit.ts` make one (`completing` of one of theirs), so that nobody can forget to say which it is.
 */
export type Action<Given extends readonly unknown[], Value> = ((task: Task, ...given: Given) => Promise<Value>) & {
  readonly effect: Effect;
};

/** Actions by their names, as each file of actions has them. */
export type Actions = Readonly<Record<string, Action<never[], unknown>>>;

/** The effect of an action: it only reads, it writes, or it looks at a body. The last two are audited, as this command. */
type Effect = { readonly kind: 'reads' } | { readonly kind: 'writes' | 'looks'; readonly command: string };
