/** Lifetime of an access token, in seconds. */
export const accessTokenSeconds = 900;

/** A session that is not used for this long ends, in seconds. */
export const refreshIdleSeconds = 14 * 86_400;

/** A session ends this long after its login, in seconds, used or not. */
export const refreshAbsoluteSeconds = 90 * 86_400;
