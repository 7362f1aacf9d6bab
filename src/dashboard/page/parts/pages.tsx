import { useState } from "preact/hooks";
import { exact } from "../format.ts";

/**
 * The cursors of the pages before the one that is shown, and its own; none on the first page.
 * @param of what the pages belong to: if it changes, the first is shown
 */
export function usePages(of = "") {
  const [state, setState] = useState<{ readonly of: string; readonly cursors: readonly string[] }>({
    of,
    cursors: [],
  });
  const cursors = state.of === of ? state.cursors : [];
  const setCursors = (next: readonly string[]) => setState({ of, cursors: next });
  return { cursors, cursor: cursors.at(-1), setCursors };
}

interface PagesProps extends ReturnType<typeof usePages> {
  /** The cursor of the next page; null after the last. */
  readonly next: string | null;
}

/** Leads to the page before and to the next one. */
export function Pages({ cursors, setCursors, next }: PagesProps) {
  return (
    <nav class="pages" aria-label="Pages">
      <button type="button" disabled={cursors.length === 0} onClick={() => setCursors(cursors.slice(0, -1))}>
        Previous
      </button>
      <span>Page {exact(cursors.length + 1)}</span>
      <button
        type="button"
        disabled={next === null}
        onClick={() => next !== null && setCursors([...cursors, next])}
      >
        Next
      </button>
    </nav>
  );
}

/** The same, only if there is more than one page. */
export const MorePages = (props: PagesProps) =>
  props.next === null && props.cursors.length === 0 ? null : <Pages {...props} />;
