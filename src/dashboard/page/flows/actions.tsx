import { useState } from "preact/hooks";
import { may } from "../access.ts";
import { cancelFlow, redriveFlow } from "../api/flows.ts";
import type { Flow } from "../api/types.ts";
import { counted } from "../format.ts";
import { Confirm } from "../parts/dialog.tsx";
import { announce } from "../parts/notice.tsx";

interface FlowActionsProps {
  readonly flow: Flow;
  readonly onChanged: () => void;
}

export function FlowActions({ flow, onChanged }: FlowActionsProps) {
  const { id, state, nodes } = flow;
  const [asked, setAsked] = useState<"cancel" | "redrive" | undefined>();
  const close = () => setAsked(undefined);
  const queues = new Set(nodes.flatMap(({ queue }) => queue ?? []));
  const mayAll = (scope: Parameters<typeof may>[0]) => [...queues].every((queue) => may(scope, queue));
  const hasFailed = nodes.some((node) => node.state === "rejected" && node.reason !== "cancelled");
  const cancel = async () => {
    const { cancelled, flagged } = await cancelFlow(id);
    const asked = flagged > 0 ? ` ${counted(flagged, "working task")} asked to stop.` : "";
    announce(`${counted(cancelled, "task")} of ${id} cancelled.${asked}`);
    onChanged();
  };
  const redrive = async () => {
    announce(`${counted((await redriveFlow(id)).redriven, "task")} of ${id} redriven.`);
    onChanged();
  };
  return (
    <>
      {hasFailed && mayAll("admin") && (
        <button type="button" onClick={() => setAsked("redrive")}>
          Redrive…
        </button>
      )}
      {state === "running" && mayAll("enqueue") && (
        <button type="button" onClick={() => setAsked("cancel")}>
          Cancel…
        </button>
      )}
      {asked === "redrive" && (
        <Confirm title={`Redrive ${id}?`} action="Redrive" run={redrive} onClose={close}>
          <p>
            All tasks that failed become pending again, and may use all their attempts again. What fell with
            them waits for them again.
          </p>
        </Confirm>
      )}
      {asked === "cancel" && (
        <Confirm title={`Cancel ${id}?`} action="Cancel the flow" danger run={cancel} onClose={close}>
          <p>
            All tasks that have not begun are cancelled; their payloads are deleted, and they cannot be
            redriven. The consumers of working tasks are asked to stop.
          </p>
        </Confirm>
      )}
    </>
  );
}
