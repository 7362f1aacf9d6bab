/** Bindings of the scripts in lua/repair. */
import { okay, readExpired, ReplyReader, type Binding } from "../../kernel/scripts/binding.ts";
import { FAULTS } from "../../kernel/errors/faults.ts";
import { parts, partsWithSchedules } from "../../kernel/names/keys.ts";
import { check } from "../../lua/check.gen.ts";
import { scan } from "../../lua/scan.gen.ts";
import { placeLost } from "../../lua/place-lost.gen.ts";
import { blankDuplicates } from "../../lua/blank-duplicates.gen.ts";
import { recountGroups } from "../../lua/recount-groups.gen.ts";
import { repairControl } from "../../lua/repair-control.gen.ts";
import type { Reply } from "../../kernel/transport.ts";

const readDeadLetters = (reader: ReplyReader) => reader.nested().rest(readExpired);

const readFaults = (reader: ReplyReader) =>
  reader.nested().rest((item) => ({ fault: item.oneOf(FAULTS), id: item.text() }));

export const checkScript = {
  script: check,
  keys: partsWithSchedules,
  args: ["testNow"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("check", reply);
    const status = reader.status("valid", "scan", "large");
    const [entries, kinds] = [reader.integer(), reader.integer()];
    return {
      valid: status === "large" ? null : status === "valid",
      entries,
      hasSchedules: kinds % 2 === 1,
      hasFlows: kinds >= 2 || status !== "valid",
    };
  },
} as const satisfies Binding;

export const scanScript = {
  script: scan,
  keys: parts,
  args: ["testNow", "part", "cursor", "size"],
  decode: (reply: Reply) => {
    const reader = okay("scan", reply);
    return {
      cursor: reader.text(),
      entries: reader.integer(),
      bytes: reader.integer(),
      ghosts: reader.integer(),
      faults: readFaults(reader),
      /** How many entries the list must have of each id: ghosts, and 1 if the task waits in it. */
      expected: reader.nested().rest((item) => ({
        id: item.text(),
        ghosts: item.integer(),
        waits: item.integer(),
        witness: item.text(),
      })),
      groups: reader.nested().rest((item) => ({ name: item.text(), state: item.text() })),
      timers: reader.nested().rest((item) => item.text()),
      /** Tasks of groups in `fair` and `working`, and how a group's state counts each. */
      members: reader
        .nested()
        .rest((item) => ({ id: item.text(), group: item.text(), counted: item.text() })),
      deadLetters: readDeadLetters(reader),
      /** Nodes of flows that have not ended. */
      nodes: reader.nested().rest((item) => item.text()),
    };
  },
} as const satisfies Binding;

export const placeLostScript = {
  script: placeLost,
  keys: parts,
  args: ["testNow"],
  each: ["id", "witness", "seen"],
  decode: (reply: Reply) => {
    const reader = okay("placeLost", reply);
    return {
      ghosts: reader.integer(),
      dropped: reader.integer(),
      faults: readFaults(reader),
      deadLetters: readDeadLetters(reader),
    };
  },
} as const satisfies Binding;

export const blankDuplicatesScript = {
  script: blankDuplicates,
  keys: parts,
  args: ["testNow", "reach"],
  each: ["id", "index"],
  decode: (reply: Reply) => {
    const reader = okay("blankDuplicates", reply);
    return {
      ghosts: reader.integer(),
      faults: readFaults(reader),
      deadLetters: readDeadLetters(reader),
      found: reader.rest((item) => item.integer() === 1),
    };
  },
} as const satisfies Binding;

export const recountGroupsScript = {
  script: recountGroups,
  keys: ["fair", "fairByGroup", "limited", "working", "delayed", "tasks"],
  args: ["testNow", "counted"],
  each: ["name", "before", "state"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("recountGroups", reply);
    return reader.status("ok", "large") === "large" ? null : { faults: readFaults(reader) };
  },
} as const satisfies Binding;

export const repairControlScript = {
  script: repairControl,
  keys: [
    "fair",
    "fairByGroup",
    "limited",
    "working",
    "delayed",
    "tasks",
    "expiry",
    "workers",
    "operatorCalls",
  ],
  args: ["testNow", "deletion"],
  each: ["field", "added", "removed", "count"],
  decode: (reply: Reply) => {
    const reader = okay("repairControl", reply);
    const pair = () => ({ added: reader.integer(), removed: reader.integer() });
    const deletion = reader.text();
    return {
      deletion,
      nodes: pair(),
      ghosts: pair(),
      timers: pair(),
      broken: pair(),
      faults: readFaults(reader),
    };
  },
} as const satisfies Binding;
