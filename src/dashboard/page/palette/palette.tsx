import { useEffect, useId, useState } from "preact/hooks";
import { queueNames } from "../api/queues.ts";
import { Dialog } from "../parts/dialog.tsx";
import { place } from "../router.ts";
import { useStore } from "../store.ts";
import { entriesFor } from "./entries.ts";

const isMac = navigator.userAgent.includes("Mac");

/** A button that opens the palette, as Ctrl K does. */
export function PaletteButton() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(isMac ? event.metaKey : event.ctrlKey)) return;
      event.preventDefault();
      // Not over another dialog.
      if (document.querySelector("dialog[open]") === null) setOpen(true);
    };
    addEventListener("keydown", open);
    return () => removeEventListener("keydown", open);
  }, []);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Go to… <kbd>{isMac ? "⌘K" : "Ctrl K"}</kbd>
      </button>
      {isOpen && <Palette onClose={() => setOpen(false)} />}
    </>
  );
}

/** A list of places and actions, of which the viewer types a part. */
function Palette({ onClose }: { readonly onClose: () => void }) {
  const here = useStore(place);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const [queues, setQueues] = useState<readonly string[]>([]);
  const id = useId();
  useEffect(() => {
    const ended = new AbortController();
    // Without the names the palette still leads to all else.
    queueNames(ended.signal).then(setQueues, () => {});
    return () => ended.abort();
  }, []);
  const entries = entriesFor(text, here, queues);
  const shown = Math.min(at, entries.length - 1);
  const act = (index: number) => {
    onClose();
    entries[index]?.act();
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => setAt((shown + 1) % entries.length),
    ArrowUp: () => setAt((shown + entries.length - 1) % entries.length),
    Enter: () => act(shown),
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        class="palette"
        role="combobox"
        aria-label="A queue, a screen, an action, or the id of a task"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={shown < 0 ? undefined : `${id}-${shown}`}
        autocomplete="off"
        spellcheck={false}
        placeholder="A queue, a screen, an action, or the id of a task"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          const key = keys[event.key];
          if (!key) return;
          event.preventDefault();
          key();
        }}
      />
      <ul class="entries" role="listbox" id={`${id}-list`} aria-label="Places and actions">
        {entries.map(({ name }, i) => (
          <li
            key={name}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === shown}
            onPointerMove={() => setAt(i)}
            onClick={() => act(i)}
          >
            <bdi>{name}</bdi>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
