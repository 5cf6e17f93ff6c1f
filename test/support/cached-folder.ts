import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

/**
 * Returns a folder in the user's cache directory, and fills it if it is missing. If several runs fill it at the same time, the first complete
 * draft becomes the folder. The name must contain the versions of the folder's contents.
 */
export async function cachedFolder(name: string, fill: (draft: string) => unknown): Promise<string> {
  const cache = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'emissor');
  const folder = path.join(cache, name);
  if (existsSync(folder)) return folder;
  mkdirSync(path.dirname(folder), { recursive: true });
  const draft = mkdtempSync(path.join(cache, 'draft-'));
  try {
    await fill(draft);
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
