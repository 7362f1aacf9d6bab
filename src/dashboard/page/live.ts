import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { RequestError, signedIn } from "./api/request.ts";
import { keptFlag, useStore } from "./store.ts";

/** Whether the page refreshes itself. */
export const isLive = keptFlag("live", true);

/** The first interval between two refreshes, ms; after a minute without input it grows by GROWTH each time. */
const SHORTEST = 5_000;
const LONGEST = 60_000;
const ATTENTIVE = 60_000;
const GROWTH = 1.5;

let lastInput = Date.now();
for (const event of ["pointerdown", "keydown", "hashchange"]) {
  addEventListener(event, () => {
    lastInput = Date.now();
  });
}

export interface Loaded<Value> {
  /** Undefined until the first reply. */
  readonly value: Value | undefined;
  /** Why the last try failed; the value is then that of an earlier one. */
  readonly error: string | undefined;
  /** When the value was loaded, epoch ms. */
  readonly at: number | undefined;
  readonly refresh: () => void;
}

/**
 * Loads a value, and loads it again while the page is visible: each five seconds, and less often the longer
 * there was no input, up to a minute.
 * @param load called again if `key` changes
 * @param key what the value belongs to
 * @param options.once true loads it only once, and on `refresh`
 */
export function useLive<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  key: string,
  { once = false }: { readonly once?: boolean } = {},
): Loaded<Value> {
  const [state, setState] = useState<Omit<Loaded<Value>, "refresh"> & { readonly key: string }>({
    key,
    value: undefined,
    error: undefined,
    at: undefined,
  });
  const live = useStore(isLive);
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;

  useEffect(() => {
    const ended = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let interval = SHORTEST;
    const next = () => {
      if (once || !live || document.hidden || ended.signal.aborted) return;
      interval = Date.now() - lastInput > ATTENTIVE ? Math.min(interval * GROWTH, LONGEST) : SHORTEST;
      timer = setTimeout(() => void run(), interval);
    };
    const run = async () => {
      clearTimeout(timer);
      try {
        const value = await latest.current(ended.signal);
        if (!ended.signal.aborted) setState({ key, value, error: undefined, at: Date.now() });
      } catch (error) {
        if (ended.signal.aborted || !signedIn.value) return;
        const message = error instanceof RequestError ? error.message : String(error);
        setState((before) => ({
          ...(before.key === key ? before : { key, value: undefined, at: undefined }),
          error: message,
        }));
      }
      next();
    };
    const shown = () => {
      if (document.hidden) clearTimeout(timer);
      else if (!once && live) void run();
    };
    void run();
    document.addEventListener("visibilitychange", shown);
    return () => {
      ended.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", shown);
    };
  }, [key, live, round, once]);

  const refresh = useCallback(() => setRound((before) => before + 1), []);
  const { key: of, ...found } = state;
  return of === key ? { ...found, refresh } : { value: undefined, error: undefined, at: undefined, refresh };
}
