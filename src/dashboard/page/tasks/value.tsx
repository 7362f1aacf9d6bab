import { useState } from "preact/hooks";
import { exact } from "../format.ts";
import { keptFlag, useStore } from "../store.ts";

/** Whether the viewer wants payloads, results, progress and headers hidden, as for a shared screen. */
export const isHidden = keptFlag("hide-payloads", false);

/** Characters that are shown at first: a larger text makes the page slow. */
const SHOWN = 20_000;

interface ValueProps {
  readonly title: string;
  readonly value: unknown;
  readonly encoding?: "base64" | undefined;
  /** An error is shown even if payloads are hidden. */
  readonly isError?: boolean;
}

/** What a task carries, as text. It is never parsed as HTML. */
export function Value({ title, value, encoding, isError = false }: ValueProps) {
  const hidden = useStore(isHidden) && !isError;
  const [all, setAll] = useState(false);
  const text = typeof value === "string" && isError ? value : JSON.stringify(value, null, 2);
  const size = new TextEncoder().encode(text).length;
  return (
    <section class="value">
      <h2>
        {title} <span class="faint">{encoding ?? `${exact(size)} bytes`}</span>
      </h2>
      {hidden ? (
        <p class="faint">hidden</p>
      ) : (
        <pre tabIndex={0} aria-label={title} class={isError ? "error" : undefined}>
          <bdi>{all ? text : text.slice(0, SHOWN)}</bdi>
        </pre>
      )}
      {!hidden && !all && text.length > SHOWN && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {exact(text.length)} characters
        </button>
      )}
    </section>
  );
}
