/** What a deep sweep finds. */
export const FAULTS = [
  /** An id in some place, or a live record, without a payload: taken out. */
  "payload_missing",
  /** A payload in no place: put back, at the back, or among the dead letters. */
  "place_missing",
  /** A task in two places, or twice in the list: one was kept. */
  "two_places",
  /** A task in a place that its record's state contradicts: taken out there. */
  "wrong_place",
  /** A task marked working without a lease: taken back, as if the lease had expired. */
  "lease_missing",
  /** Something that ends with time, and had no time: given one. */
  "expiry_missing",
  /** A time to end for what is not there: dropped. */
  "record_missing",
  /** A record beyond reading: set aside in the field `~b:…` for seven days. */
  "record_broken",
  /** A record that lacks, or keeps, what it should not in its state: completed. */
  "record_incomplete",
  /** A newer release's record: left as it is. */
  "record_newer",
  /** A time beyond all reason: set to now. */
  "time_broken",
  /** Miscounted ghosts: counted anew. */
  "ghosts_wrong",
  /** A group whose state did not say where its tasks are: counted anew. */
  "group_wrong",
  /** A timer that was not set, or miscounted. */
  "timer_wrong",
  /** A lease that a worker had, or lacked, in `worker-leases` against its record. */
  "worker_lease_wrong",
  /** A turn that a group had, or lacked, in `fair-by-group` against `fair`. */
  "turn_wrong",
  /** The record of a worker that is not registered: gone. */
  "worker_wrong",
  /** A schedule kept by half, or beyond reading: gone; or without its next occurrence: given it. */
  "schedule_broken",
  /** A control field beyond reading, or behind what it counts. */
  "control_broken",
] as const;

export type Fault = (typeof FAULTS)[number];
