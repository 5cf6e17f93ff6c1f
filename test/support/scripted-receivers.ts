import type { ProcessRuntime } from '@emissor/cloud/virtual';
import type { PostOutcome } from '../../lambdas/platform/egress/guarded-post.ts';
import type { PinnedPost, PinnedRequestOutcome } from '../../lambdas/platform/egress/pinned-request.ts';
import { ResolutionError, type Resolve } from '../../lambdas/platform/egress/resolver.ts';
import { aResponse } from '../unit/delivery/builders.ts';

interface Post {
  readonly body: string;
  readonly id: string;
  readonly at: number;
  /** The status that the service received. */
  status: number | undefined;
  readonly lane: string;
}

/** The outcome of a POST and its duration, which is 0 ms by default, or infinite for a timeout. */
type ScriptedOutcome = PostOutcome & { readonly takesMs?: number };

/** Creates receivers that return the scripted responses in order, and then 200. */
export function makeScriptedReceivers() {
  const posts: Post[] = [];
  const answers: ScriptedOutcome[] = [];
  return { posts, answers, resolve, postFrom };

  /** Resolves a name to a public address, unless the next response is `dns` or `blocked`. Some names have special results. */
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

  /** Creates the function that a process uses to send POSTs. */
  function postFrom({ call, process, time }: ProcessRuntime): PinnedPost {
    return async function post(request) {
      const send = { service: 'post', operation: 'Post', maxAttempts: 1 };
      const { post, outcome } = await call(send, () => receive(request));
      const { takesMs = outcome.outcome === 'timeout' ? Number.POSITIVE_INFINITY : 0 } = outcome;
      if (!(await passes(takesMs, request.signal))) return { outcome: 'aborted', isConnected: true };
      if (outcome.outcome === 'response') {
        request.onResponse();
        post.status = outcome.status;
      }
      return asPinned(outcome);
    };

    function receive({ headers, body }: Parameters<PinnedPost>[0]) {
      const outcome: ScriptedOutcome = answers.shift() ?? aResponse(200);
      const id = String(headers['webhook-id']);
      const lane = process.functionName.replace('deliver-', '');
      const post: Post = { id, body, at: time.now(), status: undefined, lane };
      posts.push(post);
      return { post, outcome };
    }

    /** Waits. Returns false if the signal aborts first. */
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
