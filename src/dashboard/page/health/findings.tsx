import { useEffect, useState } from "preact/hooks";
import type { Finding, Health } from "../api/types.ts";
import { ago } from "../format.ts";
import { queueLink } from "../router.ts";
import { FindingDialog, type FindingAction, Remedies } from "./remedies.tsx";

const order = ["problem", "warning", "unknown", "ok"] as const;

/** The worst first. */
export const sorted = (findings: readonly Finding[]) =>
  findings.toSorted((a, b) => order.indexOf(a.status) - order.indexOf(b.status));

/** A status as a colour and a word. */
export const StatusBadge = ({ status }: { readonly status: Finding["status"] }) => (
  <span class={`badge status-${status}`}>{status}</span>
);

interface FindingsProps {
  /** When it was found. */
  readonly of: Pick<Health, "now"> | undefined;
  readonly findings: readonly Finding[];
  /** Whether all are of the queue that the screen shows. */
  readonly ofOne?: boolean;
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
  return <p class="hint">Checked {ago(at)}.</p>;
}

/** What is wrong, each with what can be done about it. */
export function Findings({ of, findings, ofOne = false, onChanged }: FindingsProps) {
  const [asked, setAsked] = useState<FindingAction | undefined>();
  // A dialog stays open when its finding is gone: it may not be done yet.
  if (findings.length === 0 && asked === undefined) return null;
  return (
    <>
      <ul class="findings" aria-label="Findings" hidden={findings.length === 0}>
        {sorted(findings).map((finding) => {
          const { status, code, about, found, advice, queue } = finding;
          return (
            <li key={`${about} ${code}`} class={`finding status-${status}`}>
              <span>
                <StatusBadge status={status} />{" "}
                {!ofOne &&
                  (queue === undefined ? (
                    <strong>{about}</strong>
                  ) : (
                    <a class="name" href={queueLink(queue)}>
                      {queue}
                    </a>
                  ))}{" "}
                <span dir="auto">{found}</span>
              </span>
              {advice !== undefined && <span class="advice">{advice}</span>}
              <Remedies finding={finding} onAsk={setAsked} />
            </li>
          );
        })}
      </ul>
      {of && findings.length > 0 && <CheckedAt at={of.now} />}
      {asked && <FindingDialog action={asked} onDone={onChanged} onClose={() => setAsked(undefined)} />}
    </>
  );
}
