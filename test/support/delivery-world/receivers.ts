import type { ProcessOutside } from '@emissor/cloud/virtual';
import type { Lane } from '../../../lambdas/delivery/lane-routing.ts';
import type { PostOutcome } from '../../../lambdas/platform/egress/guarded-post.ts';
import type { PinnedPost, PinnedRequestOutcome } from '../../../lambdas/platform/egress/pinned-request.ts';
import { ResolutionError, type Resolve } from '../../../lambdas/platform/egress/resolver.ts';
import { answer } from '../../unit/delivery/builders.ts';

/** One POST that left the service. */
interface Posted extends Pick<Parameters<PinnedPost>[0], 'accountId' | 'body' | 'connectTimeoutMs'> {
  readonly id: string;
  readonly url: string;
  readonly at: number;
  /** The status that the service heard of. */
  status: number | undefined;
  readonly lane: Lane;
}

/**
 * The outcome of a POST, as the guarded POST would tell it but for the times, which that measures. It takes no time unless it says
 * so. One that times out is never answered.
 */
type Answer = PostOutcome & { readonly takesMs?: number };

/** Makes the public network, with receivers that answer what they are told: 200 by default. */
export function makeReceivers() {
  const posts: Posted[] = [];
  const answers: Answer[] = [];
  /** Actions that happen while the next POSTs are in flight. */
  const during: (() => Promise<unknown>)[] = [];
  return { posts, answers, during, resolve, postFrom };

  /** Resolves every name at once, unless the next outcome is that it cannot, or must not; three names have outcomes of their own. */
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

  /** Returns the way out of a process. It stands still for what happens while its POST is in flight. */
  function postFrom(lane: Lane, { call, process, time }: ProcessOutside): PinnedPost {
    return async function post(request) {
      const { arrived } = await call({ service: 'post', operation: 'Post', tries: 1 }, () => {
        const act = during.shift();
        return { arrived: act ? meanwhile(act).then(() => receive(request)) : receive(request) };
      });
      const { posted, outcome } = await arrived;
      const { takesMs = outcome.outcome === 'timeout' ? Number.POSITIVE_INFINITY : 0 } = outcome;
      if (!(await passes(takesMs, request.signal))) return { outcome: 'aborted', isConnected: true };
      if (outcome.outcome === 'response') {
        request.onAnswered();
        posted.status = outcome.status;
      }
      return asPinned(outcome);
    };

    async function meanwhile(act: () => Promise<unknown>): Promise<void> {
      process.freeze();
      await act();
      process.thaw(process.invocationId());
    }

    function receive({ headers, path, accountId, body, connectTimeoutMs }: Parameters<PinnedPost>[0]) {
      const outcome: Answer = answers.shift() ?? answer(200);
      const url = `https://${headers.host}${path}`;
      const id = String(headers['webhook-id']);
      const posted: Posted = { id, accountId, body, connectTimeoutMs, url, at: time.now(), status: undefined, lane };
      posts.push(posted);
      return { posted, outcome };
    }

    /** Returns whether the time was over before the signal. */
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
      // A name that is not asked for again, since another attempt asked just now, leads to no other failure.
      return { ...failure, kind: kind === 'tls' || kind === 'internal_error' ? kind : 'connection' };
    }
  }
}
