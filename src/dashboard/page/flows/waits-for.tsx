import { flow as read } from "../api/flows.ts";
import { useLive } from "../live.ts";
import { Waiting } from "../parts/layout.tsx";
import { taskLink } from "../router.ts";
import { shownName, shownState, whyText } from "./marks.tsx";

export interface WaitsForProps {
  readonly flow: string;
  readonly id: string;
}

const onTexts = { completed: "", ended: " to end in any way", failed: " to fail" } as const;

/** What a blocked task waits for. The whole flow is read for it, so only once. */
export function WaitsFor({ flow, id }: WaitsForProps) {
  const { value, error, refresh } = useLive((signal) => read(flow, signal), `${flow} ${id}`, { once: true });
  if (!value) return <Waiting error={error} retry={refresh} />;
  const after = value.nodes.find((node) => node.id === id)?.after ?? [];
  const named = new Map(value.nodes.map((node) => [node.ref, node]));
  return (
    <section>
      <h2>Waits for</h2>
      <ul class="scroll">
        {after.map(({ ref, on }) => {
          const node = named.get(ref);
          return (
            <li key={ref}>
              {node?.queue === undefined || node.id === undefined ? (
                ref
              ) : (
                <a href={taskLink(node.queue, node.id)}>{ref}</a>
              )}
              {onTexts[on]}
              {node && `: ${shownName(shownState(node))} ${whyText(node)}`}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
