/** Returns a number with its noun, such as `1 stack` or `2 stacks`. */
export function counted(number: number, noun: string, nouns = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : nouns}`;
}

/** Returns items as a list in a sentence, such as `one, two and three`. */
export function listed(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}

/** Returns the name of a table, followed by the name of its index, if any. */
export function tableOrIndexName({ table, index }: { readonly table: string; readonly index: string | null }): string {
  return index === null ? table : `${table}/index/${index}`;
}

/** Returns the counts that are not 0 as a list in a sentence, such as `1 user, 2 deliveries`. */
export function listedCounts(counts: Readonly<Record<string, number>>): string {
  const texts = Object.entries(counts).flatMap(([name, count]) => {
    const nouns = name.replace(/[A-Z]/g, capital => ` ${capital.toLowerCase()}`);
    return count === 0 ? [] : [counted(count, nouns.replace(/ies$/, 'y').replace(/s$/, ''), nouns)];
  });
  return texts.join(', ') || 'nothing';
}
