import type { ProcessRuntime } from '@emissor/cloud/virtual';
import type { PostOutcome } from '../../lambdas/platform/egress/guarded-post.ts';
import type { PinnedPost, PinnedRequestOutcome } from '../../lambdas/platform/egress/pinned-request.ts';
import { ResolutionError, type Resolve } from '../../lambdas/platform/egress/resolver.ts';
import { answer } from '../unit/delivery/builders.ts';

/** A POST that left the service. */
interface Posted {
  readonly body: string;
  readonly id: string;
  readonly at: number;
  /** The status that the service received. */
  status: number | undefined;
  readonly lane: string;
}

/** The outcome of a POST. By default it takes no time. A timeout never ends with a response. */
type Answer = PostOutcome & { readonly takesMs?: number };

/** Creates receivers that return the scripted responses in order, and then 200. */
export function makeScriptedReceivers() {
  const posts: Posted[] = [];
  const answers: Answer[] = [];
  return { posts, answers, resolve, postFrom };

  /** Resolves every name to a public address, unless the next response is `dns` or `blocked`. Names may be special. */
  async function resolve(...[name]: Parameters<Resolve>): ReturnType<Resolve> {
    if (name.startsWith('nowhere.')) throw new ResolutionError('not_found', 'ENOTFOUND');
    if (name.startsWith('silent.')) throw new ResolutionError('temporary', 'ESERVFAIL');
    if (name.startsWith('six.')) return ['2606:4700::1'];
    const [next] = answers;
    if (next?.outcome !== 'dns' && next?.outcome !== 'blocked') return ['93.184.215.14'];
    answers.shift();
    if (next.outcome === 'blocked') return ['10.0.0.1'];
    throw new ResolutionError('temporary', next.errorCode);
  }

  /** Returns the POST of a consumer's process. */
  function postFrom({ call, process, time }: ProcessRuntime): PinnedPost {
    return async function post(request) {
      const { posted, outcome } = await call({ service: 'post', operation: 'Post', tries: 1 }, () => receive(request));
      const { takesMs = outcome.outcome === 'timeout' ? Number.POSITIVE_INFINITY : 0 } = outcome;
      if (!(await passes(takesMs, request.signal))) return { outcome: 'aborted', isConnected: true };
      if (outcome.outcome === 'response') {
        request.onAnswered();
        posted.status = outcome.status;
      }
      return asPinned(outcome);
    };

    function receive({ headers, body }: Parameters<PinnedPost>[0]) {
      const outcome: Answer = answers.shift() ?? answer(200);
      const id = String(headers['webhook-id']);
      const lane = process.functionName.replace('deliver-', '');
      const posted: Posted = { id, body, at: time.now(), status: undefined, lane };
      posts.push(posted);
      return { posted, outcome };
    }

    /** Returns whether the time passes before the signal aborts. */
    async function passes(milliseconds: number, signal: AbortSignal): Promise<boolean> {
      if (milliseconds > 0 && !signal.aborted) {
        await new Promise<void>(resolve => {
          signal.addEventListener('abort', () => resolve(), { once: true });
          if (Number.isFinite(milliseconds)) time.after(milliseconds, resolve);
        });
      }
      return !signal.aborted;
    }
  }
}

function asPinned(outcome: PostOutcome): PinnedRequestOutcome {
  switch (outcome.outcome) {
    case 'response': {
      const { status, headers, bodyStart } = outcome;
      return { outcome: 'response', status, headers, body: Buffer.from(bodyStart), isTruncated: false };
    }
    case 'given_up':
    case 'timeout':
      return { outcome: 'aborted', isConnected: true };
    default: {
      const { outcome: kind, cause, errorCode } = outcome;
      const failure = { outcome: 'failed', cause, errorCode, isConnected: true, isStale: false } as const;
      return { ...failure, kind: kind === 'tls' || kind === 'internal_error' ? kind : 'connection' };
    }
  }
}
