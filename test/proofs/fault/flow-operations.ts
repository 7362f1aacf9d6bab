/** Calls on the nodes of a flow in one partition. */
import { run } from "../../../src/kernel/call.ts";
import { layoutField, nodeId, predecessorsField, rootOf } from "../../../src/kernel/linked/flow-names.ts";
import { cancelMember } from "../../../src/kernel/linked/cancel-nodes.ts";
import {
  addBeforeScript,
  addFlowScript,
  cancelNodesScript,
  endFlowScript,
  notifyScript,
  readNodesScript,
  readOutboxScript,
  stageFlowScript,
} from "../../../src/kernel/linked/link-scripts.ts";
import { readBeforeScript } from "../../../src/features/flows/before-script.ts";
import { Shard } from "../../../src/kernel/shard.ts";
import type { Operation } from "./operation.ts";
import type { Caller } from "./starting-point.ts";

const FLOW = "f@steps";
const now = (): number => 1_700_000_240_000;
const shardOf = ({ transport }: Caller) => new Shard({ name: "steps", transport, now });

const letters = `;t=tokentok;F=${FLOW}`;
/** Two tasks, of which the second waits for the first, and then another queue for the second. */
const NODES = [
  { id: rootOf(FLOW), edges: "ee", record: `${letters};J=j\n` },
  { id: layoutField(FLOW), edges: "~", record: "{}" },
  { id: nodeId(FLOW, 0), edges: "c", record: `${letters};B=1.0,flow.0\nj1` },
  { id: nodeId(FLOW, 1), edges: "c", record: `${letters};B=flow.1 others 7.0\nj2` },
  { id: predecessorsField(nodeId(FLOW, 1)), edges: "~", record: '[["one","0","steps"]]' },
];
const FAILED = [{ id: nodeId(FLOW, 0), edge: "0", outcome: "failed", because: "9{f@steps}" }];

const add = (by: Caller) =>
  run(by.transport, shardOf(by).call(addFlowScript, { wake: "", token: "tokentok", mayRefuse: "1" }, NODES));
const PIECE = { member: `~x:${rootOf(FLOW)} 000000 steps`, text: '["tokentok",[]]\n' };
const stage = (by: Caller) =>
  run(by.transport, shardOf(by).call(stageFlowScript, { root: rootOf(FLOW), keptFor: "3600000" }, [PIECE]));
/** Adds a task in front of the second one. */
const grow = (by: Caller) => {
  const args = { wake: "", flow: FLOW, front: "1", edge: "0", behind: "flow" };
  const added = [
    { id: nodeId(FLOW, "gjoin"), edges: "e", record: `${letters};J=j\n` },
    { id: nodeId(FLOW, "gtask"), edges: "", record: `${letters};B=gjoin.0\nj3` },
    { id: `${layoutField(FLOW)} gjoin.0.1`, edges: "~l", record: "{}" },
  ];
  return run(by.transport, shardOf(by).call(addBeforeScript, args, added));
};
const notify = (by: Caller) => run(by.transport, shardOf(by).call(notifyScript, { wake: "" }, FAILED));

export const ofFlows: readonly Operation[] = [
  {
    script: "addFlow",
    call: add,
    again: (added: object) => ({ ...added, by: "copy" }),
  },
  {
    script: "addBefore",
    call: async (by) => [await add(by), await grow(by)],
    again: ([added, grown]: [unknown, object]) => [added, { ...grown, by: "copy" }],
  },
  { script: "stageFlow", call: stage },
  {
    script: "notify",
    what: "of a task that failed",
    call: async (by) => [await add(by), await notify(by)],
    // A copy finds that nothing has changed. What the first one left is in the outbox.
    again: ([added, notified]: [unknown, object]) => [added, { ...notified, outbox: [] }],
  },
  {
    script: "readOutbox",
    call: async (by) => {
      await add(by);
      await notify(by);
      return run(by.transport, shardOf(by).call(readOutboxScript, { size: "10", skip: "0" }));
    },
  },
  {
    script: "cancelNodes",
    call: async (by) => {
      await add(by);
      const ids = [1, 0].map((node) => ({ id: nodeId(FLOW, node) }));
      return run(by.transport, shardOf(by).call(cancelNodesScript, { mark: "", outbox: "" }, ids));
    },
    // A copy finds that nothing is left to be cancelled. What the first one left is in the outbox.
    again: () => ({ cancelled: 0, flagged: 0, unknown: 0, outbox: [] }),
  },
  {
    script: "cancelNodes",
    what: "of a flow that is marked",
    call: async (by) => {
      await add(by);
      const mark = { mark: "a", outbox: cancelMember(FLOW, "a", "steps") };
      return run(by.transport, shardOf(by).call(cancelNodesScript, mark, [{ id: rootOf(FLOW) }]));
    },
  },
  {
    script: "readNodes",
    call: async (by) => {
      await add(by);
      await notify(by);
      const ids = NODES.map(({ id }) => ({ id }));
      const args = { maxBytes: "1000", deep: "1" };
      return run(by.transport, shardOf(by).call(readNodesScript, args, ids));
    },
  },
  {
    script: "readBefore",
    call: async (by) => {
      await add(by);
      await notify(by);
      const args = { id: nodeId(FLOW, 1), queue: "steps", bytes: "1000000" };
      return run(by.transport, shardOf(by).call(readBeforeScript, args));
    },
  },
  {
    script: "endFlow",
    call: async (by) => {
      await add(by);
      await notify(by);
      const ids = NODES.map(({ id }) => ({ id }));
      return run(by.transport, shardOf(by).call(endFlowScript, { keptFor: "60000" }, ids));
    },
  },
];
