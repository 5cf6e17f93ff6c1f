/** Returns a number with its noun: `1 stack`, `2 stacks`. */
export function counted(number: number, noun: string, nouns = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : nouns}`;
}

/** Returns items as a sentence lists them: `one, two and three`. */
export function listed(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}

/** Returns the operator's command line for a stage, or for the local run (`null`): without its name it works on that one. */
export function opsOf(stage: string | null): string {
  return stage === null || stage === 'local' ? 'npm run ops --' : `npm run ops -- --stage ${stage}`;
}

/** Returns the name of a table, and of its index where it is one that is throttled. */
export function placeOf({ table, index }: { readonly table: string; readonly index: string | null }): string {
  return index === null ? table : `${table}/index/${index}`;
}
