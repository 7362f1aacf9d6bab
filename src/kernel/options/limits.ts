/**
 * Most tasks, ids or receipts of one call: of an enqueue, a dequeue, a settle and the calls of operators. It
 * bounds how long a script blocks Redis.
 */
export const MAX_BATCH = 1_000;

/** Most bytes of the values in one request: Upstash refuses a request over 10 MB. */
export const MAX_REQUEST_BYTES = 9_500_000;

/** Limit of a payload, and of a result: its JSON as UTF-8, or the bytes of a `Uint8Array`. */
export const MAX_VALUE_BYTES = 1_048_576;

/** Limit of progress, in bytes of JSON. */
export const MAX_PROGRESS_BYTES = 1_024;

/** Limit of an error that is kept, in bytes of JSON. */
export const MAX_ERROR_BYTES = 16_384;
