import type { ComponentChildren } from "preact";
import { store, useStore } from "../store.ts";

/** The last thing that was done, in words. */
const notice = store<ComponentChildren>("");
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows for some seconds what was done; screen readers read it. */
export function announce(text: ComponentChildren): void {
  clearTimeout(timer);
  notice.set(text);
  timer = setTimeout(() => notice.set(""), 6_000);
}

export function Notice() {
  const text = useStore(notice);
  return (
    <div class="notice" role="status" data-shown={text !== ""}>
      {text}
    </div>
  );
}
