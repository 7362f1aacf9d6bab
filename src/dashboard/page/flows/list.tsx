import { useState } from "preact/hooks";
import type { Flow } from "../api/types.ts";
import { counted } from "../format.ts";
import { MorePages, usePages } from "../parts/pages.tsx";
import { Select } from "../parts/select.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { queueLink, taskLink } from "../router.ts";
import { afterText, shownName, shownState, whyText } from "./marks.tsx";

type Node = Flow["nodes"][number];

/** Nodes on one page. */
const PAGE = 50;

/** The nodes of a flow, in an order in which each comes after what it waits for. */
export function NodeList({ nodes }: Pick<Flow, "nodes">) {
  const [state, setState] = useState("");
  const pages = usePages(state);
  const names = [...new Set(nodes.map((node) => shownName(shownState(node))))];
  const found = nodes.filter((node) => state === "" || shownName(shownState(node)) === state);
  const first = Number(pages.cursor ?? 0);
  const last = first + PAGE;
  return (
    <section aria-label="Tasks of the flow">
      <div class="filters">
        <Select
          label="State"
          value={state}
          set={setState}
          options={{ "": "any", ...Object.fromEntries(names.map((name) => [name, name])) }}
        />
        <span class="faint">{counted(found.length, "task")}</span>
      </div>
      <Table
        label="Tasks of the flow"
        columns={columns}
        rows={found.slice(first, last)}
        keyOf={({ ref }) => ref}
        empty="There are no such tasks."
      />
      <MorePages {...pages} next={last < found.length ? String(last) : null} />
    </section>
  );
}

const columns: readonly Column<Node>[] = [
  {
    title: "Task",
    of: ({ ref, queue, id }) =>
      queue !== undefined && id !== undefined ? (
        <a class="name id" href={taskLink(queue, id)}>
          {ref}
        </a>
      ) : (
        <span class="name id">{ref} (flow)</span>
      ),
  },
  {
    title: "Queue",
    of: ({ queue }) => (queue === undefined ? "–" : <a href={queueLink(queue)}>{queue}</a>),
  },
  {
    title: "State",
    of: (node) => <span class={`badge state-${shownState(node)}`}>{shownName(shownState(node))}</span>,
  },
  { title: "Why", of: (node) => whyText(node) || "–" },
  { title: "After", fills: true, of: ({ after }) => afterText(after) || "–" },
];
