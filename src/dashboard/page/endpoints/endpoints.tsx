import { useState } from "preact/hooks";
import { may } from "../access.ts";
import { endpoints, replayStep, turnEndpoint } from "../api/endpoints.ts";
import type { Endpoint } from "../api/types.ts";
import { serverTime } from "../clock.ts";
import { counted } from "../format.ts";
import { useLive } from "../live.ts";
import { When } from "../parts/badges.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Heading, Stale, Waiting } from "../parts/layout.tsx";
import { announce } from "../parts/notice.tsx";
import { MorePages, usePages } from "../parts/pages.tsx";
import { Select } from "../parts/select.tsx";
import { type Column, RowButtons, Table } from "../parts/table.tsx";
import { queueLink } from "../router.ts";

type Action = "disable" | "enable" | "replay";

interface Asked {
  readonly action: Action;
  readonly id: string;
}

/** The endpoints that get events, and what becomes of their deliveries. */
export function EndpointsScreen() {
  const pages = usePages();
  const { cursor } = pages;
  const [acts, setActs] = useState(0);
  const [asked, setAsked] = useState<Asked | undefined>();
  const load = (signal: AbortSignal) => endpoints(cursor, signal);
  const { value, error, refresh } = useLive(load, String(cursor), { round: acts });
  if (!value) return <Waiting title="Endpoints" error={error} retry={refresh} />;
  const { queue } = value;
  const columns = columnsOf(queue);
  if (may("admin", queue)) {
    columns.push({
      title: "Actions",
      of: ({ id, state }) => {
        const ask = (action: Action) => () => setAsked({ action, id });
        const actions =
          state === "disabled"
            ? ([["Enable", ask("enable")]] as const)
            : ([
                ["Replay", ask("replay")],
                ["Disable", ask("disable")],
              ] as const);
        return <RowButtons of={id} actions={actions} />;
      },
    });
  }
  const dialog = { onDone: () => setActs(acts + 1), onClose: () => setAsked(undefined) };
  return (
    <>
      <Heading title="Endpoints" />
      <Stale error={error} />
      <p class="hint">
        Their deliveries are tasks of <a href={queueLink(queue)}>{queue}</a>.
      </p>
      <Table
        label="Endpoints"
        rows={value.endpoints}
        keyOf={({ id }) => id}
        empty="There is no endpoint."
        columns={columns}
      />
      <MorePages {...pages} next={value.cursor} />
      {asked?.action === "replay" && <ReplayDialog id={asked.id} {...dialog} />}
      {asked && asked.action !== "replay" && <TurnDialog id={asked.id} action={asked.action} {...dialog} />}
    </>
  );
}

const REASONS = { operator: "by an operator", failures: "it failed for too long", gone: "it asked for it" };

const BADGES = { active: "completed", failing: "delayed", open: "delayed", disabled: "rejected" };

const columnsOf = (queue: string): Column<Endpoint>[] => [
  {
    title: "Endpoint",
    fills: true,
    of: ({ id, url, description }) => (
      <>
        <strong dir="auto">{id}</strong> {description !== null && <span dir="auto">{description}</span>}
        <br />
        <span class="faint">{url}</span>
      </>
    ),
  },
  { title: "Types", of: ({ types }) => <code>{types.join(" ")}</code> },
  {
    title: "State",
    of: ({ state, disabledReason, disabledAt, failingSince, retryAt }) => (
      <>
        <span class={`badge state-${BADGES[state]}`}>{state}</span>{" "}
        {disabledReason !== null && (
          <>
            {REASONS[disabledReason]} <When at={disabledAt} />
          </>
        )}
        {disabledReason === null && failingSince !== null && (
          <>
            since <When at={failingSince} />
          </>
        )}
        {retryAt !== null && (
          <>
            , next try <When at={retryAt} />
          </>
        )}
      </>
    ),
  },
  {
    title: "Deliveries",
    of: ({ id }) => (
      <>
        <a href={queueLink(queue, "pending", { group: id })}>pending</a>{" "}
        <a href={queueLink(queue, "dead", { group: id })}>dead</a>
      </>
    ),
  },
];

interface DialogProps {
  readonly id: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function TurnDialog({
  id,
  action,
  onDone,
  onClose,
}: DialogProps & { readonly action: "disable" | "enable" }) {
  const run = async () => {
    await turnEndpoint(id, action);
    announce(`${id} is ${action}d.`);
    onDone();
  };
  const isDisable = action === "disable";
  return (
    <Confirm
      title={`${isDisable ? "Disable" : "Enable"} ${id}?`}
      action={isDisable ? "Disable" : "Enable"}
      danger={isDisable}
      run={run}
      onClose={onClose}
    >
      <p>
        {isDisable
          ? "Its deliveries become dead letters, and can be replayed when it is enabled."
          : "It gets events from now on. What failed before is not delivered again: replay it."}
      </p>
    </Confirm>
  );
}

const HOUR = 3_600_000;

const TIMES = { [HOUR]: "hour", [24 * HOUR]: "day", [7 * 24 * HOUR]: "7 days" };

function ReplayDialog({ id, onDone, onClose }: DialogProps) {
  const [length, setLength] = useState(String(24 * HOUR));
  const run = async () => {
    const since = Math.floor(serverTime()) - Number(length);
    let total = 0;
    let cursor: string | null | undefined;
    do {
      const reply = await replayStep(id, { since, ...(typeof cursor === "string" && { cursor }) });
      total += reply.replayed;
      cursor = reply.cursor;
    } while (cursor !== null);
    announce(`${counted(total, "delivery", "deliveries")} to ${id} replayed.`);
    onDone();
  };
  return (
    <Confirm title={`Replay what failed at ${id}?`} action="Replay" run={run} onClose={onClose}>
      <p>Deliveries that became dead letters become pending again, with all their attempts.</p>
      <Select label="In the last" value={length} set={setLength} options={TIMES} />
    </Confirm>
  );
}
