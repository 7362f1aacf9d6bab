import type { SluiceError } from "../../errors.ts";

/** What reading the payload of a leased task needs. */
export interface LeasedPayload {
  readonly id: string;
  readonly receipt: string;
  readonly payload: unknown;
  /** Epoch ms. */
  readonly deadlineAt: number;
  /** ms */
  readonly leasedFor: number;
  /** About how many bytes the record has in Redis. */
  readonly bytes?: number | undefined;
  /** Why the payload cannot be read, and never will be. It does not quote the payload. */
  readonly failure?: SluiceError | undefined;
}
