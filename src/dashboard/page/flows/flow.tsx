import { useState } from "preact/hooks";
import { flow as read } from "../api/flows.ts";
import type { Flow } from "../api/types.ts";
import { counted, instant, number, span } from "../format.ts";
import { useLive } from "../live.ts";
import { When } from "../parts/badges.tsx";
import { Heading, Stale, Waiting } from "../parts/layout.tsx";
import { linkTo, taskLink } from "../router.ts";
import { FlowActions } from "./actions.tsx";
import { Graph } from "./graph.tsx";
import { NodeList } from "./list.tsx";
import { afterText, Mark, shownName, shownState, whyText } from "./marks.tsx";

/** Flows of more nodes are shown as a list: a graph would be no help, and slow. */
const MOST_DRAWN = 2_000;

/** A flow is read again no more often than this for each of its nodes, ms. */
const EVERY = 10;

export function FlowScreen({ id, query }: { readonly id: string; readonly query: URLSearchParams }) {
  const [size, setSize] = useState(0);
  const load = async (signal: AbortSignal) => {
    const found = await read(id, signal);
    setSize(found.nodes.length);
    return found;
  };
  const isFinal = ({ state }: Flow) => state !== "running";
  const { value: flow, error, refresh } = useLive(load, id, { isFinal, every: size * EVERY });
  if (!flow) return <Waiting title={id} error={error} retry={refresh} />;
  const { nodes, counts, state, isCancelled, createdAt, endedAt } = flow;
  const canBeDrawn = nodes.length <= MOST_DRAWN;
  const isList = !canBeDrawn || query.get("view") === "list";
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const view = (name: string, text: string, isOn: boolean) => (
    <a href={linkTo(["flows", id], { view: name })} aria-current={isOn ? "page" : undefined}>
      {text}
    </a>
  );
  return (
    <>
      <Heading title={id}>
        <span class={`badge state-${state === "running" ? "working" : state}`}>
          {state === "rejected" ? "failed" : state}
        </span>
        {isCancelled && <span class="badge state-cancelled">cancelled</span>}
        <span class="fill" />
        <FlowActions flow={flow} onChanged={refresh} />
      </Heading>
      <Stale error={error} />
      <p class="hint">
        {counted(all, "task")}, added <When at={createdAt} />
        {endedAt !== undefined && `, ended ${instant(endedAt)} after ${span(endedAt - createdAt)}`}.
      </p>
      <Counts counts={counts} />
      {canBeDrawn ? (
        <nav class="tabs" aria-label="How the flow is shown">
          {view("", "graph", !isList)}
          {view("list", "list", isList)}
        </nav>
      ) : (
        <p class="hint">A flow is drawn if it has up to {number(MOST_DRAWN)} tasks.</p>
      )}
      {isList ? <NodeList key={id} nodes={nodes} /> : <Drawn flow={flow} />}
    </>
  );
}

const ORDER = ["working", "pending", "delayed", "blocked", "completed", "rejected"] as const;

/** How many tasks are in each state. It is the key to the forms of the graph, too. */
const Counts = ({ counts }: Pick<Flow, "counts">) => (
  <dl class="tiles">
    {ORDER.map((state) => (
      <div key={state} class="tile">
        <dt>
          <svg class={`state-${state}`} width="16" height="16" viewBox="-8 -8 16 16" aria-hidden="true">
            <Mark state={state} />
          </svg>{" "}
          {shownName(state)}
        </dt>
        <dd>{number(counts[state])}</dd>
      </div>
    ))}
  </dl>
);

function Drawn({ flow }: { readonly flow: Flow }) {
  const [active, setActive] = useState("");
  const node = flow.nodes.find(({ ref }) => ref === active);
  return (
    <section aria-label="Graph">
      <Graph flow={flow} active={active} setActive={setActive} />
      <p class="hint" role="status">
        {node ? (
          <Described node={node} />
        ) : (
          "A solid line is for a task that must complete, a dashed one for any end."
        )}
      </p>
    </section>
  );
}

/** The node that has the focus, or had it last. */
function Described({ node }: { readonly node: Flow["nodes"][number] }) {
  const { ref, queue, id, after } = node;
  const why = whyText(node);
  return (
    <>
      {queue !== undefined && id !== undefined ? <a href={taskLink(queue, id)}>{ref}</a> : ref}:{" "}
      {shownName(shownState(node))}
      {why !== "" && ` (${why})`}
      {queue !== undefined && `, in ${queue}`}
      {after.length > 0 && `, after ${afterText(after)}`}
    </>
  );
}
