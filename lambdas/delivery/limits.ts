/*
 * The numbers of delivery that are not part of a stage's configuration. Times in milliseconds.
 */

const second = 1_000;

/** The longest that SQS holds a message back (`DelaySeconds`). What waits longer the sweeper sends. */
export const maxQueueDelay = 900 * second;

/** An attempt that is not over so long after connecting was begun is slow; a quick one is over sooner. */
export const slowAfter = 2 * second;

const minute = 60 * second;

/** Slow attempts make a webhook slow by how many there are within this time. */
export const slownessWindow = minute;

/** So many slow attempts within the window make a webhook slow, where they are also this share of all its attempts. */
export const fewestSlowAttempts = 2;
export const slowShare = 0.1;

/** So many slow attempts within the window make a webhook slow whatever their share. */
export const manySlowAttempts = 30;

/** How long a webhook stays slow at least after its share was last reached: doubled by each relapse within a day. */
export const shortestHold = minute;

const hour = 60 * minute;

export const longestHold = hour;
export const relapseWindow = 24 * hour;

/** Attempts at one slow webhook that are in flight at once, about. */
export const slowAttemptsInFlight = 60;

/** What an attempt at a webhook that has just become slow is taken to last until one was measured. */
export const assumedAttempt = 15 * second;

/** An attempt that is not over after this long is taken to hang until its deadline. */
export const hangsAfter = 5 * second;

/** A slot that is further off is not reserved: the delivery waits in the table. */
export const furthestSlot = minute;

/** A slow webhook's message that waits in the slow queue is overdue for the sweeper after this long. */
export const slowQueueOverdue = 30 * minute;

/** An attempt in a quick lane that is not answered is asked about after this long, and each so often after. */
export const giveUpAfter = 2 * second;
export const giveUpEvery = second;

/** A timer that fires so much too late shows that the event loop lags. */
export const lateTimer = 200;

/** Names of so many other domains that go unanswered within this time show that it is our resolver that is slow. */
export const otherDomainsUnanswered = 2;
export const unansweredWindow = 10 * second;

/**
 * Attempts that one process of a consumer makes at once: it receives more messages while it waits for receivers. In the slow
 * lane it does little else than wait.
 */
export const attemptsPerProcess = { first: 100, retry: 100, slow: 200 } as const;

/** The bulkhead: of those, attempts at one webhook in a quick lane. What is beyond is left to the retry lane, due after `fullBulkheadWait`. */
export const attemptsPerWebhook = 25;

/** By then a webhook that hangs is known to be slow; with jitter, so that a burst does not reach the retry lane as one. */
export function fullBulkheadWait(random: () => number): number {
  return 2 * second * (1 + random());
}

/** A consumer that waits for receivers looks for further messages after this long, and ever more rarely while there are none. */
export const shortestReceivePause = 100;
export const longestReceivePause = second;

/** While there are messages it goes on after this long; a pause that lasts so much longer shows that the event loop lags. */
export const receivePauseWhileMore = 10;
export const lateReceivePause = 50;

/** The writing of an outcome that gets no answer is repeated for so long: what is not stored is POSTed again. */
export const storeRetryTime = 2 * second;

/** Arrivals at a webhook whose backlog waits renew that fact when it is this old. */
export const backlogRenewal = 30 * second;

/** The sweeper looks after a backlog for this long after the last arrival: longer than any arrival may take to be stored. */
export const backlogAttention = 5 * minute;

/** Each minute the sweeper reserves slots for this long: a little more than a minute, so that none stays unused. */
export const slotsAhead = 75 * second;

/** What waited for slots of a webhook that is slow no more comes back at this many a second, and at most so many a sweep. */
export const releaseRate = 100;
export const releasedPerSweep = 6_000;

/** How long each address of a receiver may take to accept a connection, by lane. */
export const connectTimeouts = { first: 700, retry: 700, slow: 4 * second } as const;
