import { may } from "../access.ts";
import { isLive } from "../live.ts";
import { flowLink, goTo, linkTo, type Place, queueLink, taskLink } from "../router.ts";
import { store } from "../store.ts";
import { isHidden } from "../tasks/value.tsx";

/** What the palette can do. */
export interface Entry {
  readonly name: string;
  readonly act: () => void;
}

/** What can be asked of the screen of a queue. */
type QueueAction = "pause" | "enqueue" | "limits";

interface Asked {
  readonly queue: string;
  readonly action: QueueAction;
}

/** What was asked of the screen of a queue, until it does so. */
export const askedOfQueue = store<Asked | undefined>(undefined);

/** Goes to the screen of a queue, and asks it for something. */
export function askQueue(queue: string, action: QueueAction): void {
  goTo(queueLink(queue));
  askedOfQueue.set({ queue, action });
}

/** Entries that are shown at the same time. */
const MOST = 12;

/** Queues whose tabs and actions are looked through. */
const MOST_NAMED = 100;

const TABS = [
  "pending",
  "delayed",
  "blocked",
  "working",
  "completed",
  "dead",
  "schedules",
  "workers",
  "groups",
] as const;

/**
 * What the palette offers for a text.
 * @param queues the names of all queues
 */
export function entriesFor(text: string, { parts }: Place, queues: readonly string[]): Entry[] {
  const wanted = text.trim();
  const link = (name: string, to: string): Entry => ({ name, act: () => goTo(to) });
  const [area, queue] = parts;
  const ofQueue = area === "queues" && queue !== undefined ? entriesOf(queue, link) : [];
  const words = wanted.toLowerCase().split(/\s+/);
  const others = queues.filter((one) => one !== queue);
  const named = others.filter((one) => words.some((word) => word !== "" && one.toLowerCase().includes(word)));
  const all = [
    ...ofQueue,
    link("Queues", linkTo([])),
    link("Health", linkTo(["health"])),
    link("Search", linkTo(["search"])),
    link("Costs", linkTo(["costs"])),
    link("Endpoints", linkTo(["endpoints"])),
    ...others.map((one) => link(`Queue ${one}`, queueLink(one))),
    ...named.slice(0, MOST_NAMED).flatMap((one) => entriesOf(one, link)),
    { name: "Switch Live on or off", act: () => isLive.set(!isLive.value) },
    { name: "Hide or show payloads", act: () => isHidden.set(!isHidden.value) },
  ];
  const found = all.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
  if (wanted === "") return found.slice(0, MOST);
  return [
    ...found.slice(0, MOST - 2),
    ...(ofQueue.length > 0
      ? [link(`Open the task ${wanted} of ${queue}`, taskLink(queue ?? "", wanted))]
      : []),
    link(`Search all tasks for “${wanted}”`, linkTo(["search"], { text: wanted })),
    // It may be an address instead.
    ...(wanted.includes("@") ? [link(`Open the flow ${wanted}`, flowLink(wanted))] : []),
  ];
}

function entriesOf(queue: string, link: (name: string, to: string) => Entry): Entry[] {
  const ask = (name: string, action: QueueAction): Entry => ({
    name,
    act: () => askQueue(queue, action),
  });
  return [
    ...TABS.map((tab) => link(`${queue}: ${tab}`, queueLink(queue, tab))),
    ...(may("enqueue", queue) ? [ask(`${queue}: enqueue a task`, "enqueue")] : []),
    ...(may("admin", queue)
      ? [ask(`${queue}: pause or resume`, "pause"), ask(`${queue}: limits`, "limits")]
      : []),
  ];
}
