import { PagefindUI as Plain } from './node_modules/@pagefind/default-ui/npm_dist/mjs/ui-core.mjs';

/** The search, with the section of a page that fits best before its others: by itself it keeps the order of the page. */
export class PagefindUI extends Plain {
  constructor(options: Options) {
    const scoreOf = ({ weighted_locations: all }: Section) =>
      Math.max(...all.map(one => one.balanced_score)) + all.length / 100;
    const processResult = (result: Result) => {
      options.processResult(result);
      result.sub_results = result.sub_results.sort((a, b) => scoreOf(b) - scoreOf(a)).slice(0, 3);
    };
    super({ ...options, processResult });
  }
}

type Section = { weighted_locations: { balanced_score: number }[] };
type Result = { sub_results: Section[] };
type Options = { processResult: (result: Result) => void };
