/** Returns the English word for a word in the API, followed by that word, such as `failed (falhou)`. */
export function withEnglishName(words: Readonly<Record<string, string>>, wireWord: string): string {
  const [word = wireWord] = Object.entries(words).find(([, wire]) => wire === wireWord) ?? [];
  return word === wireWord ? word : `${word.replaceAll('_', ' ')} (${wireWord})`;
}
