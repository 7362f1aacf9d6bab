/** What a deep sweep does for flows: no task waits for what has ended, or is lost. */
import { commandCall, exchange, run } from "../../kernel/call.ts";
import { dividedSince } from "../../kernel/linked/divided-since.ts";
import { NEVER_DUE, flowOf, layoutField } from "../../kernel/linked/flow-names.ts";
import { noteNodes, noteOf } from "../../kernel/linked/node-notes.ts";
import { shardNamed } from "../../kernel/linked/link.ts";
import type { Shard } from "../../kernel/shard.ts";
import { slicesOf } from "../../kernel/slices.ts";
import type { PlainCommand, SendOptions } from "../../kernel/transport.ts";
import type { DeepSweepPart, Findings } from "../../sweep/deep-part.ts";
import { endHomeless } from "./homeless-nodes.ts";
import { repairFlow } from "./repair-flow.ts";

/** How many fields one command removes. */
const PAGE = 160;

/** Repairs the flows that have their home in a partition, and finds nodes there whose flow is not known. */
export const flowsRepair: DeepSweepPart = {
  async repair(found, checked, findings, options) {
    if (checked?.hasFlows === false) return;
    // Flows name queues as they were before they were divided.
    const transport = dividedSince(found.queue.transport, () => true);
    const shard = shardNamed({ ...found.queue, transport }, found.name);
    const { flows, pieces, parts } = await fieldsOf(shard, options);
    await putOut(shard, pieces, flows, findings, options);
    const lost: string[] = [];
    for (const flow of flows) if (!(await repairFlow(shard, flow, findings, options))) lost.push(flow);
    for (const flow of lost) flows.delete(flow);
    const ofLost = [...parts, ...pieces].filter((field) => {
      const flow = flowIn(field);
      return flow !== undefined && !flows.has(flow);
    });
    const isPiece = (field: string) => field.startsWith("~x:");
    const unknown = [
      ...ofLost.filter((field) => !isPiece(field)),
      ...(await inOutbox(shard, ofLost.filter(isPiece), options)),
    ];
    const fields = lost.map(layoutField);
    // The scan may not have shown a flow that was added meanwhile. Its pieces were in no outbox before that.
    for (const slice of slicesOf(unknown, PAGE)) {
      const names = slice.map((field) => flowIn(field) as string);
      const layouts = await send(shard, ["HMGET", shard.keys.tasks, ...names.map(layoutField)], options);
      const isGone = (name: string, i: number) => lost.includes(name) || (layouts as unknown[])[i] === null;
      fields.push(...slice.filter((_, i) => isGone(names[i] as string, i)));
    }
    for (const field of fields) findings.found("control_broken", field);
    for (const slice of slicesOf(fields, PAGE)) {
      await send(shard, ["HDEL", shard.keys.tasks, ...slice], options);
      await send(shard, ["ZREM", shard.keys.expiry, ...slice], options);
    }
    await endHomeless(shard, flows, findings, options);
    await note(shard, findings, options);
  },
};

const send = (shard: Shard, command: PlainCommand, options: SendOptions) =>
  run(
    shard.queue.transport,
    commandCall(command, (reply) => reply),
    options,
  );

/** The flows that have their home in a partition; pieces that it keeps; and the fields that have parts of layouts. */
async function fieldsOf(shard: Shard, options: SendOptions) {
  const flows = new Set<string>();
  const [pieces, parts] = [new Set<string>(), new Set<string>()];
  let cursor = "0";
  do {
    const command = ["HSCAN", shard.keys.tasks, cursor, "MATCH", "~[Fx]:*", "COUNT", "1000"] as const;
    const [next, found] = (await send(shard, command, options)) as [string, string[]];
    for (const [i, field] of found.entries()) {
      if (i % 2 === 1) continue;
      if (field.startsWith("~x:")) pieces.add(field);
      else if (field.includes(" ")) parts.add(field);
      else flows.add(field.slice("~F:".length));
    }
    cursor = next;
  } while (cursor !== "0");
  return { flows, pieces: [...pieces], parts: [...parts] };
}

/** The flow that a part of a layout is of, or a piece of a flow as a whole. */
const flowIn = (field: string) => /^~(?:F:|x:flow\{)([^ ]+?)\}? /.exec(field)?.[1];

/** Puts pieces into the outbox that are in it no more. Those of nodes that were never recorded are removed. */
async function putOut(
  shard: Shard,
  pieces: readonly string[],
  flows: ReadonlySet<string>,
  findings: Findings,
  options: SendOptions,
): Promise<void> {
  const { expiry, tasks } = shard.keys;
  for (const slice of slicesOf(pieces, PAGE)) {
    const scores = (await send(shard, ["ZMSCORE", expiry, ...slice], options)) as (string | null)[];
    const lost = slice.filter((_, i) => scores[i] === null);
    if (lost.length === 0) continue;
    const roots = lost.map((member) => member.slice("~x:".length, member.indexOf(" ")));
    const ofRoots = ["HMGET", tasks, ...roots.map((root) => `.${root}`)] as const;
    const records = (await send(shard, ofRoots, options)) as (string | null)[];
    for (const [i, member] of lost.entries()) {
      findings.found("expiry_missing", member);
      const isRecorded = records[i] !== null || flows.has(flowOf(roots[i] as string));
      await send(shard, isRecorded ? ["ZADD", expiry, NEVER_DUE, member] : ["HDEL", tasks, member], options);
    }
  }
}

/** The pieces that are in the outbox: those that are staged are not. */
async function inOutbox(
  shard: Shard,
  pieces: readonly string[],
  options: SendOptions,
): Promise<readonly string[]> {
  const found = await Promise.all(
    slicesOf(pieces, PAGE).map(async (slice) => {
      const scores = await send(shard, ["ZMSCORE", shard.keys.expiry, ...slice], options);
      return slice.filter((_, i) => (scores as (string | null)[])[i] === NEVER_DUE);
    }),
  );
  return found.flat();
}

/** Notes in the registry that a partition has nodes, if that is lost: without it no sweep looks into the outbox. */
async function note(shard: Shard, findings: Findings, options: SendOptions): Promise<void> {
  const { keys } = shard;
  const reads = [
    ["HGET", keys.tasks, "~nodes"],
    ["ZCOUNT", keys.expiry, NEVER_DUE, "+inf"],
    ["ZSCORE", keys.queues, noteOf(shard.name)],
  ] as const;
  const calls = reads.map((command) => commandCall(command, (reply) => reply));
  const [nodes, left, noted] = (await exchange(shard.queue.transport, calls, options)).map((reply) =>
    reply(),
  );
  if (noted !== null || !(Number(nodes) > 0 || Number(left) > 0)) return;
  findings.found("control_broken", noteOf(shard.name));
  await send(shard, noteNodes(shard) as PlainCommand, options);
}
