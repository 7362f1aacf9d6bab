import { useEffect, useState } from "preact/hooks";
import type { Finding, Health } from "../api/types.ts";
import { ago, counted } from "../format.ts";
import { linkTo, queueLink } from "../router.ts";
import { isWrong, linesOf } from "./lines.ts";
import { FindingDialog, type FindingAction, Remedies } from "./remedies.tsx";

/** A status as a colour and a word. */
export const StatusBadge = ({ status }: { readonly status: Finding["status"] }) => (
  <span class={`badge status-${status}`}>{status}</span>
);

interface FindingsProps {
  readonly of: Health | undefined;
  /** The queue that the screen shows. @default all */
  readonly queue?: string;
  /** The most lines, then only of what is wrong. @default all */
  readonly most?: number;
  /** Called after something was done about one. */
  readonly onChanged: () => void;
}

/** How often an age is drawn, ms. */
const TICK = 5_000;

/** How old findings are: what else the screen shows may be newer. */
function CheckedAt({ at }: { readonly at: number }) {
  const [, draw] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => draw((count) => count + 1), TICK);
    return () => clearInterval(timer);
  }, []);
  return <span>Checked {ago(at)}.</span>;
}

/** What is wrong, each with what can be done about it. */
export function Findings({ of, queue: only, most, onChanged }: FindingsProps) {
  const [asked, setAsked] = useState<FindingAction | undefined>();
  const findings =
    of?.findings.filter((one) =>
      only === undefined ? most === undefined || isWrong(one) : one.queue === only,
    ) ?? [];
  const lines = linesOf(findings);
  const shown = lines.slice(0, most);
  // A dialog stays open when its finding is gone: it may not be done yet.
  if (lines.length === 0 && asked === undefined) return null;
  const line = ([finding, ...others]: readonly Finding[]) => {
    if (!finding) return null;
    const { status, code, about, found, advice, queue } = finding;
    return (
      <li key={`${about} ${code}`} class={`finding status-${status}`}>
        <div class="said">
          <StatusBadge status={status} />{" "}
          {only === undefined &&
            (queue === undefined ? (
              <strong>{about}</strong>
            ) : (
              <a class="name" href={queueLink(queue)}>
                {queue}
              </a>
            ))}{" "}
          <span dir="auto">{found}</span>
          {advice !== undefined && <div class="advice">{advice}</div>}
        </div>
        <Remedies finding={finding} all={findings} onAsk={setAsked} />
        {others.length > 0 && (
          <details>
            <summary>
              The same of {counted(others.length, "other queue")}: {others.map((one) => one.about).join(", ")}
            </summary>
            <ul class="findings">{others.map((one) => line([one]))}</ul>
          </details>
        )}
      </li>
    );
  };
  return (
    <>
      <ul class="findings" aria-label="Findings" hidden={lines.length === 0}>
        {shown.map(line)}
      </ul>
      {of && lines.length > 0 && (
        <p class="hint">
          <CheckedAt at={of.now} />{" "}
          {shown.length < lines.length && (
            <a href={linkTo(["health"])}>All {counted(findings.length, "finding")}</a>
          )}
        </p>
      )}
      {asked && <FindingDialog action={asked} onDone={onChanged} onClose={() => setAsked(undefined)} />}
    </>
  );
}
