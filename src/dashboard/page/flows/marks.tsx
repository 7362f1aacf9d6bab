import type { Flow, State } from "../api/types.ts";
import { wordsOf } from "../format.ts";
import { stateNames } from "../parts/badges.tsx";

type Node = Flow["nodes"][number];

/** What is shown as the state of a node; `gone` if its record is. */
export type Shown = State | "cancelled" | "gone";

export const shownState = ({ state, reason }: Pick<Node, "state" | "reason">): Shown =>
  reason === "cancelled" ? "cancelled" : (state ?? "gone");

export const shownName = (state: Shown) =>
  state === "cancelled" ? state : state === "gone" ? "no longer kept" : stateNames[state];

/** A form for each state, so that no one needs its colour. */
const forms: Readonly<Record<Shown, string>> = {
  blocked: "M-6-6h12v12h-12z",
  pending: "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0",
  delayed: "M-5-6h10l-10 12h10z",
  working: "M-5-6l11 6l-11 6z",
  completed: "M-6 0l4 5l8-10",
  rejected: "M-5-5l10 10M5-5l-10 10",
  cancelled: "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0M-4 4l8-8",
  gone: "M-5 0h10",
};

export const Mark = ({ state, transform }: { readonly state: Shown; readonly transform?: string }) => (
  <path class={`mark mark-${state}`} d={forms[state]} transform={transform} />
);

/** Why a node was rejected, in words; empty if it was not. */
export const whyText = ({ reason, because }: Node) =>
  because === undefined ? (reason === undefined ? "" : wordsOf(reason)) : `${because} failed`;

/** Most refs that are named. */
const MOST = 3;

const onTexts = { completed: "", ended: "any end of ", failed: "failure of " } as const;

/** What a node waits for, in words. */
export function afterText(after: Node["after"]): string {
  const named = after.slice(0, MOST).map(({ ref, on }) => onTexts[on] + ref);
  return named.join(", ") + (after.length > MOST ? ` and ${after.length - MOST} more` : "");
}

/** All of a node, for screen readers. */
export function nodeText(node: Node): string {
  const { ref, queue, after } = node;
  const why = whyText(node);
  return [
    ref,
    shownName(shownState(node)) + (why && ` (${why})`),
    queue === undefined ? "a flow in the flow" : `queue ${queue}`,
    ...(after.length > 0 ? [`after ${afterText(after)}`] : []),
  ].join(", ");
}
