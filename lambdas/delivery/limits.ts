/*
 * The limits and times by which delivery decides, other than a stage's configuration (`lib/stage-values.ts`). Times are in
 * milliseconds. The size of a page, of a batch or of a cache stands in the file that uses it.
 */

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** The longest that SQS holds a message back (`DelaySeconds`). The sweeper sends the messages of longer waits. */
export const maxQueueDelay = 900 * second;

/** An attempt that is overdue by this much is sent again by the sweeper. */
export const overdueAfter = 2 * minute;

/** The sweeper runs every minute: it sends the message of a long wait in the last minute before the attempt is due. */
export const sentBeforeDue = minute;

/** Operators are shown what is late by this much. */
export const shownLateAfter = 3 * minute;

/** A delivery ends when internal errors or its slow webhook have kept it from its attempts for this long. */
export const maxAge = 10 * day;

/** A delivery, and a replay, is kept for this long after its end. */
export const historyKept = 30 * day;

/** A receiver's answer is kept for this long after its attempt. */
export const answerKept = 60 * day;

/** No receiver may ask for a longer wait (`Retry-After`). */
export const maxRetryAfter = day;

/** A message that cannot be processed is deferred for this long; beyond `storedFromReceive`, for twice as long with each receive. */
export const firstDeferral = 5 * second;

/** A message is deferred for this long at most. */
export const maxDeferral = 15 * minute;

/**
 * A message that is shed was received fewer times than this. So none stays out of sight for more than 15 s, and none comes near
 * the receives at which SQS takes it for a dead letter.
 */
export const storedFromReceive = { first: 5, retry: 5, slow: 3 } as const;

/** The next failed attempt has operators told when a webhook has done nothing but fail for this long. */
export const failingMarks = [day, 4 * day] as const;

/** A webhook that has failed for this long is suspended by the next delivery that uses up its schedule, or `maxAge` in the slow lane. */
export const suspendAfter = 5 * day;

/** A webhook that has failed for this long keeps failing: its first attempts are made in the retry lane. */
export const failingForLong = minute;

/** A replay spreads the due times of its deliveries by this much: about ten a second. */
export const replayInterval = 100;

/** The most deliveries of a replay that one sweep sends: those of a minute. */
export const replayPerSweep = minute / replayInterval;

/** After this long an index shows what was written before, with a wide margin. */
export const maxIndexLag = 10 * second;

/** A sweep starts no further page of a replay after this long. A minute's worth of deliveries takes it a few seconds. */
export const replayShare = 10 * second;

/** An attempt that lasts longer than this, from resolving the name to the last header, is slow. */
export const slowAfter = 2 * second;

/** Slow attempts make a webhook slow by how many there are within this time. */
export const slownessWindow = minute;

/** The fewest slow attempts within the window that make a webhook slow, where they also reach `slowShare`. */
export const fewestSlowAttempts = 2;

/** The share of slow attempts among all attempts within the window. */
export const slowShare = 0.1;

/** A webhook stays slow for at least this long after its share was last reached; each relapse doubles that. */
export const shortestHold = minute;

/** Relapses double the hold up to this. */
export const longestHold = hour;

/** A webhook that becomes slow again within this time relapses. */
export const relapseWindow = day;

/** A known slow webhook is stored again only after this time. Otherwise each hanging attempt would write. */
export const slownessRenewal = 5 * second;

/**
 * Messages that one process of a consumer has at once: it receives more while it waits for receivers. In the fast lanes fifty
 * webhooks that hang at the same moment, five attempts each, leave room for others (`npm run world -- --isolation`, ADR 10).
 */
export const attemptsPerProcess = { first: 300, retry: 300, slow: 400 } as const;

/**
 * Returns the wait of a delivery that found no place in the slow lane, in milliseconds: as long again as it is old, and twice that at
 * most, so that a backlog of any size is spread out by few waits each.
 */
export function slowLaneWait(age: number, random: () => number): number {
  return Math.min(Math.max(2 * age, 30 * second), day) * (0.5 + 0.5 * random());
}

/** A process receives no more while this many of its messages wait for our own work, and not for a receiver. */
export const messagesInOwnWork = 30;

/** After this wait a hanging webhook is known to be slow. The jitter keeps a burst from reaching the retry lane at once. */
export function webhookLimitWait(random: () => number): number {
  return 2 * second * (1 + random());
}

/** The time that an invocation needs beyond the attempt: to read before it and to store after it. Its timeout leaves more. */
export const timeAroundAttempt = 10 * second;

/**
 * A process stops receiving at a random time between these two before an attempt could no longer begin. The shorter one is longer than a
 * receive usually lasts. What the process holds must end before it is given more, and processes that began together, with a burst, must
 * not all stop at the same moment.
 */
export const leastStopsEarlier = 2 * second;
export const mostStopsEarlier = 10 * second;

/** A consumer that waits for receivers looks for further messages after this pause, which doubles while there are none. */
export const firstReceivePause = 100;

/** The pause of a consumer that was given one message: by then most receivers have answered, and it asks for nothing in vain. */
export const receivePauseOfOne = 250;

/** The pause doubles up to this. */
export const longestReceivePause = second;

/** The pause after a receive that brought messages, and before the first one where the batch was full. */
export const pauseWhileMessages = 1;

/** A process that has no room for more messages looks again after this pause. */
export const pauseWithoutRoom = 10;

/** A pause that lasts this much longer than asked for shows that the event loop lags. */
export const maxPauseLateness = 50;

/** The writing of an outcome that gets no answer is repeated for this long: what is not stored is POSTed again. */
export const storeRetryTime = 2 * second;

/** The time in which each address of a receiver must accept a connection, by lane, in milliseconds. */
export const connectTimeouts = { first: 700, retry: 700, slow: 4 * second } as const;

/** One process sends at most this many notices of refused events for each reason in a minute. */
export const noticesPerMinute = 10;
