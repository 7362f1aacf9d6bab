/** Calls of the scripts of partitions. */
import { messagesKey, topicsKey } from "../../../src/features/topics/keys.ts";
import {
  alertsKey,
  endpointsKey,
  mapsKey,
  plainKeys,
  queueKeys,
  registryKey,
} from "../../../src/kernel/names/keys.ts";
import { callOf, type Binding } from "../../../src/kernel/scripts/binding.ts";
import * as partitions from "../../../src/features/partitions/partition-scripts.ts";
import * as turns from "../../../src/features/partitions/turn-scripts.ts";
import * as upkeep from "../../../src/features/partitions/upkeep-scripts.ts";
import { lastReply } from "../../../src/kernel/scripts/replies.ts";
import { QUEUE, START } from "../../support/rig.ts";
import type { Operation } from "./operation.ts";
import { now, type Caller } from "./starting-point.ts";

/** One call of a script of partitions. */
const ofPartitions =
  <const B extends Binding>(
    binding: B,
    args: Parameters<typeof callOf<B>>[2],
    items: Parameters<typeof callOf<B>>[3] = [],
  ) =>
  async ({ transport }: Caller): Promise<unknown> => {
    const keys = {
      ...queueKeys(QUEUE),
      ...plainKeys(queueKeys(QUEUE)),
      queues: registryKey(),
      maps: mapsKey(),
    };
    const others = {
      alerts: alertsKey(),
      endpoints: endpointsKey(),
      records: alertsKey(),
      topics: topicsKey(),
      messages: messagesKey("orders"),
      needed: `${queueKeys(QUEUE).tasks}.needed`,
    };
    const call = callOf<Binding>(binding, { ...keys, ...others }, args, items);
    return binding.decode(lastReply(await transport.send([call])));
  };
/** All foreign names, sorted: the order of HSCAN, and what is in a page, change while Redis rehashes. */
async function foreign(by: Caller): Promise<string[]> {
  const names = new Set<string>();
  let cursor = "0";
  do {
    const page = (await ofPartitions(upkeep.findForeignScript, {
      cursor,
      size: "100",
      before: String(START + 1e9),
    })(by)) as ReturnType<typeof upkeep.findForeignScript.decode>;
    for (const name of page.names) names.add(name);
    ({ cursor } = page);
  } while (cursor !== "0");
  return [...names].toSorted();
}

export const ofPartitioning: readonly Operation[] = [
  // Whole rebalances, with callers that die: test/features/partitions/shares.test.ts.
  {
    script: "setShares",
    call: ofPartitions(upkeep.setSharesScript, {
      testNow: String(now()),
      version: "7",
      maxWorking: "3",
      rate: "9/1000",
      maxPending: "0",
      wake: "",
    }),
  },
  {
    script: "putShares",
    call: ofPartitions(upkeep.putSharesScript, { was: "", shares: "1;7;1;0;m=3,0,3" }),
  },
  {
    script: "ownSlots",
    call: ofPartitions(partitions.ownSlotsScript, { version: "1", owned: "f".repeat(64) }),
  },
  {
    script: "askFormer",
    call: ofPartitions(
      partitions.askFormerScript,
      { testNow: String(now()), wake: "60000", refuseEach: "1" },
      [
        { id: "dead0", when: "", unique: "again", record: ";t=k;G=capped\nj1" },
        { id: "done1", when: "", unique: "again", record: ";t=k\nj2" },
        { id: "p1", when: "", unique: "", record: ";t=k\nj3" },
        { id: "unknown", when: "", unique: "60000 key", record: ";t=k\nj4" },
      ],
    ),
  },
  { script: "renameKeys", call: ofPartitions(partitions.renameKeysScript, { count: "4" }) },
  {
    script: "putMap",
    call: ofPartitions(partitions.putMapScript, { queue: QUEUE, was: "", map: "1;1", partitions: "2" }),
  },
  { script: "head", call: ofPartitions(turns.headScript, {}) },
  {
    script: "listWork",
    call: ofPartitions(turns.listWorkScript, { testNow: String(now()) }, [{ name: QUEUE }]),
  },
  {
    script: "setIdle",
    call: ofPartitions(turns.setIdleScript, {}, [
      { name: "gone", seen: String(START - 7_200_000), idle: "-1" },
    ]),
    again: () => 0,
  },
  {
    script: "findForeign",
    call: foreign,
  },
];
