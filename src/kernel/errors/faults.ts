/** The faults that a deep sweep finds and repairs. */
export const FAULTS = [
  /** An id in a key, or a live record, without a payload: removed. */
  "payload_missing",
  /** A payload that no key lists: listed again, at the back, or as a dead letter. */
  "place_missing",
  /** A task in two keys, or twice in the list: one entry was kept. */
  "two_places",
  /** A task in a key that its record's state contradicts: removed from that key. */
  "wrong_place",
  /** A task marked working without a lease: reclaimed, as if the lease had expired. */
  "lease_missing",
  /** A record that must expire, but had no time of expiry: given one. */
  "expiry_missing",
  /** An expiry without a record: removed. */
  "record_missing",
  /** An invalid record: set aside in the field `~b:…` for seven days. */
  "record_broken",
  /** A record that lacks what its state needs, or has what only another state has: corrected. */
  "record_incomplete",
  /** A record of a newer release: left as it is. */
  "record_newer",
  /** An impossible time: set to now. */
  "time_broken",
  /** A wrong count of ghosts: corrected. */
  "ghosts_wrong",
  /** A group whose state does not match its tasks: counted again. */
  "group_wrong",
  /** A timer that was not set, or a wrong count of timers: corrected. */
  "timer_wrong",
  /** A lease that was missing in `worker-leases`, or was in it without such a record: corrected. */
  "worker_lease_wrong",
  /** A turn that was in only one of `fair` and `fair-by-group`: `fair-by-group` was corrected. */
  "turn_wrong",
  /** The record of a worker that is not registered: removed. */
  "worker_wrong",
  /** An incomplete or invalid schedule: removed. One without its next occurrence: given it. */
  "schedule_broken",
  /** A node of a flow that was blocked although what it waits for had ended, or that was not cancelled: notified again. */
  "edge_open",
  /**
   * A task of a flow that is lost: what waits for it was rejected. Of an inner flow: begun again. One whose flow is not
   * known: cancelled.
   */
  "flow_broken",
  /** A control field that is invalid, lost, or not what it counts: corrected, or removed if nothing says what it was. */
  "control_broken",
] as const;

/** A kind of fault. */
export type Fault = (typeof FAULTS)[number];
