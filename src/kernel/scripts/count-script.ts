import { readSettings } from "../record/settings-record.ts";
import { okay, type Binding, type ReplyReader } from "./binding.ts";
import { count } from "../../lua/count.gen.ts";
import type { Reply } from "../transport.ts";

/** Null for the number that means "none". */
const orNull = (value: number, none: number) => (value === none ? null : value);

/** @param until when a pause ends; 1 if it lasts until it is resumed, 0 without one */
const readPause = (until: number) => ({ paused: until > 0, pausedUntil: until > 1 ? until : null });

export const countScript = {
  script: count,
  keys: ["pending", "fair", "limited", "working", "delayed", "tasks", "dead", "workers", "fairByGroup"],
  args: ["testNow", "overview"],
  decode: (reply: Reply) => {
    const reader = okay("count", reply);
    const counts = {
      pending: reader.integer(),
      delayed: reader.integer(),
      working: reader.integer(),
      rejected: reader.integer(),
      blocked: reader.integer(),
      oldestAge: orNull(reader.integer(), -1),
      nextDueAt: orNull(reader.integer(), 0),
      broken: reader.integer(),
      workers: reader.integer(),
      ...readPause(reader.integer()),
      stoppedGroups: reader.integer(),
    };
    if (reader.ended) return { counts, overview: undefined };
    const now = reader.integer();
    const leases = Number(reader.text());
    const settings = readSettings(reader.text());
    return { counts, overview: { now, leases, settings, records: readRecords(reader) } };
  },
} as const satisfies Binding;

/** The records of statistics at the end of a reply. */
export const readRecords = (reader: ReplyReader) => ({
  totals: reader.text(),
  current: reader.text(),
  minutes: reader.rest((item) => item.text()),
});
