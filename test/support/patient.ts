import type { RetryOptions } from "../../src/transports/retry.ts";

/** For requests that must succeed although processes that a test starts may leave them no time for seconds. */
export const PATIENT: RetryOptions = { tryTimeout: 30_000, deadline: 60_000 };
