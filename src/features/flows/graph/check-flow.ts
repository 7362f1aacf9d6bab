/** Checks the list of a flow as its caller wrote it, and resolves its refs. */
import { invalidArgument } from "../../../errors.ts";
import { ID, listOf, onlyOptions, optionsObject } from "../../../kernel/options/validation.ts";
import { nearestName } from "../../../nearest-name.ts";
import {
  type After,
  type FlowItem,
  type FlowTask,
  type InnerFlow,
  MAX_FLOW_EDGES,
  MAX_FLOW_TASKS,
} from "./flow-items.ts";
import { inOrder } from "./list-order.ts";

/** What an item waits for in its own list. */
export interface CheckedEdge {
  /** The place in the list of the item that must end first. */
  readonly from: number;
  /** Whether that item must complete. If not, it may end in any way. */
  readonly mustComplete: boolean;
}

/** An item whose refs are resolved. */
export interface CheckedItem<Q> {
  /** Unique in the whole flow: behind the refs of the flows it is in, such as `audit/rows`. At most 128 characters. */
  readonly ref: string;
  /** Where the caller wrote it, for errors: `tasks[3].flow[0]`. */
  readonly path: string;
  readonly edges: readonly CheckedEdge[];
  /** One of these is undefined. */
  readonly task: FlowTask<Q> | undefined;
  readonly inner: CheckedList<Q> | undefined;
}

/** A list whose refs are resolved. */
export interface CheckedList<Q> {
  readonly items: readonly CheckedItem<Q>[];
  /** The places of the items, each behind all that it waits for. */
  readonly order: readonly number[];
}

/** Most characters of a ref, with those of the flows it is in and the `/` between them. */
const MAX_REF = 128;

/** Most refs that the error of a cycle names. */
const MAX_SHOWN = 12;

const isInner = <Q>(item: FlowItem<Q>): item is InnerFlow<Q> => "flow" in item;

/**
 * Checks refs and edges, in time proportional to their number. It does not check the queues and options of tasks.
 * @param items in any order
 * @param path of the list, for errors
 * @throws {SluiceError} `invalid_argument` with the path of what is wrong: an invalid, repeated or unknown ref, a cycle,
 *   or too many tasks or edges
 */
export function checkFlow<Q>(items: readonly FlowItem<Q>[], path = "tasks"): CheckedList<Q> {
  let itemsLeft = MAX_FLOW_TASKS;
  let edgesLeft = MAX_FLOW_EDGES;

  function checkList(list: readonly FlowItem<Q>[], at: string, front: string): CheckedList<Q> {
    listOf(list, at, MAX_FLOW_TASKS);
    itemsLeft -= list.length;
    if (itemsLeft < 0) {
      throw invalidArgument(
        at,
        `has too many tasks; with its inner flows a flow has at most ${MAX_FLOW_TASKS}`,
      );
    }
    const places = placesOf(list, at, front);
    const checked = list.map((item, i): CheckedItem<Q> => {
      const ref = front + item.ref;
      const itemPath = `${at}[${i}]`;
      const edges = edgesOf(item, itemPath, places, front);
      edgesLeft -= edges.length;
      if (edgesLeft < 0) {
        const instead = "put tasks that the same tasks wait for into an inner flow";
        throw invalidArgument(
          `${itemPath}.after`,
          `is too long; a flow has at most ${MAX_FLOW_EDGES} refs: ${instead}`,
        );
      }
      const of = { ref, path: itemPath, edges };
      if (!isInner(item)) return { ...of, task: item, inner: undefined };
      return { ...of, task: undefined, inner: checkList(item.flow, `${itemPath}.flow`, `${ref}/`) };
    });
    const { order, cycle } = inOrder(checked.map(({ edges }) => edges.map(({ from }) => from)));
    if (cycle) throw cycleError(cycle, list, checked);
    return { items: checked, order };
  }

  return checkList(items, path, "");
}

/** The place of each ref of a list. */
function placesOf<Q>(list: readonly FlowItem<Q>[], at: string, front: string): Map<string, number> {
  const places = new Map<string, number>();
  for (const [i, item] of list.entries()) {
    const path = `${at}[${i}]`;
    optionsObject(item, `${path}.`);
    // What a task may have, its queue knows.
    if (isInner(item)) onlyOptions(item, ["ref", "flow", "after"], `${path}.`);
    const { ref } = item;
    if (typeof ref !== "string" || !ID.test(ref) || ref.includes("/")) {
      const allowed = "visible ASCII characters without /, beginning with a letter or a digit";
      throw invalidArgument(`${path}.ref`, `must be 1 to ${MAX_REF} ${allowed}`);
    }
    if (front.length + ref.length > MAX_REF) {
      throw invalidArgument(`${path}.ref`, `must be shorter; ${front}${ref} may have ${MAX_REF} characters`);
    }
    const other = places.get(ref);
    if (other !== undefined) {
      throw invalidArgument(`${path}.ref`, `must be unique; ${at}[${other}] is named ${ref} too`);
    }
    places.set(ref, i);
  }
  return places;
}

/** What an item waits for, and where its caller wrote so. */
function entriesOf<Q>(
  { after = [] }: FlowItem<Q>,
  path: string,
): { readonly entry: After; readonly at: string }[] {
  if (!Array.isArray(after)) return [{ entry: after as After, at: `${path}.after` }];
  return after.map((entry: After, i) => ({ entry, at: `${path}.after[${i}]` }));
}

function edgesOf<Q>(
  item: FlowItem<Q>,
  path: string,
  places: ReadonlyMap<string, number>,
  front: string,
): CheckedEdge[] {
  const entries = entriesOf(item, path);
  listOf(entries, `${path}.after`, MAX_FLOW_TASKS);
  const named = new Set<number>();
  return entries.map(({ entry, at }) => {
    const { ref, on } = readAfter(entry, at);
    const from = places.get(ref);
    if (from === undefined) throw unknownRef(ref, at, places, front);
    if (named.has(from)) throw invalidArgument(at, `must not name ${ref} twice`);
    named.add(from);
    return { from, mustComplete: on === "completed" };
  });
}

function readAfter(entry: After, at: string): { readonly ref: string; readonly on: string } {
  if (typeof entry === "string") return { ref: entry, on: "completed" };
  if (typeof entry !== "object" || entry === null) {
    throw invalidArgument(at, 'must be a ref, { ref, on: "completed" | "ended" }, or a list of these');
  }
  onlyOptions(entry, ["ref", "on"], `${at}.`);
  const { ref, on = "completed" } = entry;
  if (typeof ref !== "string") throw invalidArgument(`${at}.ref`, "must be a text");
  if (on !== "completed" && on !== "ended") throw invalidArgument(`${at}.on`, "must be completed or ended");
  return { ref, on };
}

function unknownRef(ref: string, at: string, places: ReadonlyMap<string, number>, front: string) {
  const outer = ref.split("/")[0] as string;
  if (ref !== outer && places.has(outer)) {
    return invalidArgument(at, `must not name ${ref}, which is in an inner flow; ${outer} names all of it`);
  }
  const nearest = nearestName(ref, places.keys());
  const meant = nearest === undefined ? "" : `; did you mean ${nearest}?`;
  const only = front === "" ? "" : ` in ${front.slice(0, -1)}, whose tasks may wait only for each other`;
  return invalidArgument(at, `names ${ref}, but there is no such ref${only}${meant}`);
}

function cycleError<Q>(
  cycle: readonly number[],
  list: readonly FlowItem<Q>[],
  checked: readonly CheckedItem<Q>[],
) {
  const first = cycle[0] as number;
  const { edges, path } = checked[first] as CheckedItem<Q>;
  const entry = edges.findIndex(({ from }) => from === cycle.at(-2));
  const at = entriesOf(list[first] as FlowItem<Q>, path)[entry]?.at ?? path;
  const refs = cycle.map((place) => list[place]?.ref);
  const left = refs.length - MAX_SHOWN;
  const shown = left > 1 ? refs.toSpliced(MAX_SHOWN / 2, left, `(${left} more)`) : refs;
  return invalidArgument(at, `closes a cycle: ${shown.join(" → ")}`);
}
