/**
 * Most tasks, ids or receipts of one call: of an enqueue, a dequeue, a settle and the calls of operators. It
 * bounds how long a script blocks Redis.
 */
export const MAX_BATCH = 1_000;

/** Most bytes of the values in one request: Upstash refuses a request over 10 MB. */
export const MAX_REQUEST_BYTES = 9_500_000;
