/**
 * The linked edition of the scripts, which knows tasks that depend on each other: groups in strict order, and flows. It does
 * all that the plain edition does, and is larger.
 */
import { linkedScripts } from "../../lua/linked.gen.ts";
import type { Command, CommandOutcome, Reply, Script, SendOptions, Transport } from "../transport.ts";
import { ReplyReader } from "../scripts/binding.ts";
import { orderChecks } from "./checked-order.ts";
import { dividedSince } from "./divided-since.ts";
import type { ForReleased, Link } from "./link.ts";
import { nameFor } from "./unnamed.ts";

const editions = new WeakMap<Transport, Transport>();
/** By linked transport, the one that it was made of. */
const plain = new WeakMap<Transport, Transport>();
const loaded = new Map<string, Script>();

const editionsOf: typeof linkedScripts = {
  ...linkedScripts,
  // Another script: not a byte of it is in bundles without the linked edition.
  ownSlots: async () => (await import("../../lua/move-slots.gen.ts")).moveSlots,
};

/**
 * A transport for queues whose tasks may depend on each other: with groups in strict order, or in flows. Give it to all
 * that works on such a queue: `Queue`, `Producer`, `sweep`, and the `transport` of `defineQueue`. Deployments and
 * `createApp` do so with their options `order` and `flows`, tests by themselves. Without it, calls on such a queue throw
 * `newer_schema`.
 * @param transport any other transport
 * @returns the same one for the same transport
 * @example const ledger = new Queue("ledger", { transport: linked(upstash(env)) });
 */
export function linked(transport: Transport): Transport {
  const known = editions.get(transport);
  if (known) return known;
  const link = linkTo(transport);
  editions.set(transport, link);
  return link;
}

/**
 * A {@link linked} transport that wakes the consumers of other queues, for tasks of flows that begin because a task of
 * this queue has ended. A new one each time.
 * @param transport may be linked
 */
export const linkedReleasing = (transport: Transport, released: ForReleased): Transport =>
  linkTo(plain.get(transport) ?? transport, released);

function linkTo(given: Transport, released?: ForReleased): Transport {
  const transport = dividedSince(given);
  const link: Transport = {
    ...transport,
    database: given.database ?? nameFor(given),
    orderChecks,
    passTurns: async (...args) => (await import("./pass-turns.ts")).passTurns(...args),
    send: async (commands, options) => {
      const sent = await inEdition(commands);
      return asPlain({ transport, released }, sent, await transport.send(sent, options), options);
    },
  };
  editions.set(link, link);
  plain.set(link, given);
  return link;
}

/** The same commands, with the linked edition of their scripts. */
async function inEdition(commands: readonly Command[]): Promise<readonly Command[]> {
  for (const command of commands) {
    if (!("script" in command)) continue;
    const { name } = command.script;
    const load = editionsOf[name];
    if (load && !loaded.has(name)) loaded.set(name, await load());
  }
  return commands.map((command) => {
    const script = "script" in command ? loaded.get(command.script.name) : undefined;
    return script ? { ...(command as Extract<Command, { script: Script }>), script } : command;
  });
}

/** The place of blocked tasks in `delayed`, and what the record of a task of a flow begins with. */
const BLOCKED = 4_503_599_627_370_495;
const OF_FLOW = "2;";

/** The id of a task of a flow. */
const NODE = /^\w+\{.+@.+\}$/;

/**
 * Whether a call may have left something to be notified: it cancelled a task of a flow, purged blocked tasks, or found that
 * the last lease of one had expired. The reply does not have what it has left.
 */
function leavesOutbox(
  { script: { name }, args }: Extract<Command, { script: Script }>,
  reply: readonly Reply[],
): boolean {
  if (name === "cancel") return reply[0] === "rejected" && NODE.test(args[1] ?? "");
  if (name === "purge") return args[1] === "blocked" && Number(reply[1]) > 0;
  const taken = name === "settleAndDequeue" ? reply[1] : name === "dequeue" && reply;
  const deadLetters = Array.isArray(taken) ? (taken as readonly Reply[]).at(-1) : undefined;
  return Array.isArray(deadLetters) && deadLetters.some((id) => NODE.test(String(id)));
}

/** Whether a call may have redriven tasks of flows: some that it names, or any. */
function redrives(
  { script: { name }, args }: Extract<Command, { script: Script }>,
  [, count]: readonly Reply[],
): boolean {
  const [, , dry] = args;
  const items = args.slice(7);
  return (
    name === "redrive" &&
    dry === "" &&
    Number(count) > 0 &&
    (items.length === 0 || items.some((id) => NODE.test(id)))
  );
}

/**
 * The outcomes of commands as queues read them. A call that has ended tasks may have left something to be notified to
 * other partitions: that is done first. A task that is blocked is in this state.
 */
async function asPlain(
  { transport, released }: Pick<Link, "transport" | "released">,
  commands: readonly Command[],
  outcomes: CommandOutcome[],
  options: SendOptions | undefined,
): Promise<CommandOutcome[]> {
  for (const [i, outcome] of outcomes.entries()) {
    const command = commands[i];
    if (!command || !("script" in command) || !("reply" in outcome) || !Array.isArray(outcome.reply))
      continue;
    const { name } = command.script;
    const reply: readonly Reply[] = outcome.reply;
    const [, state, at, fixed] = reply;
    if (name === "get" && state === "delayed" && at === BLOCKED && String(fixed).startsWith(OF_FLOW))
      outcomes[i] = { reply: reply.with(1, "blocked") };
    if (redrives(command, reply)) {
      const { emptyOutboxOfRedriven } = await import("./after-call.ts");
      await emptyOutboxOfRedriven(transport, command.keys, command.args[0], options, released);
    }
    if (leavesOutbox(command, reply)) {
      const { emptyOutboxOf } = await import("./after-call.ts");
      await emptyOutboxOf(transport, command.keys, command.args[0], options, released);
    }
    if (name !== "settle" && name !== "settleAndDequeue") continue;
    const settled = name === "settle" ? reply : reply[0];
    const last = Array.isArray(settled) ? (settled as readonly Reply[]).at(-1) : undefined;
    if (!Array.isArray(last) || last[0] !== "outbox") continue;
    const rest = (settled as readonly Reply[]).slice(0, -1);
    outcomes[i] = { reply: name === "settle" ? rest : [rest, ...reply.slice(1)] };
    const { sendSettled } = await import("./after-call.ts");
    await sendSettled(transport, command.keys, new ReplyReader(name, last.slice(1)), options, released);
  }
  return outcomes;
}
