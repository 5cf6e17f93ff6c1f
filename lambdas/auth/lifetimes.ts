/** Lifetime of an access token, in seconds. */
export const accessTokenSeconds = 900;

/** Idle lifetime of a session, in seconds. */
export const refreshIdleSeconds = 14 * 86_400;

/** Absolute lifetime of a session from its login, in seconds. */
export const refreshAbsoluteSeconds = 90 * 86_400;
