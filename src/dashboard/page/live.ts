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

/** The interval after that one, ms: longer if there was no input for a minute, or if the last request failed. */
export function nextInterval(before = SHORTEST, failed = false): number {
  const isAttentive = Date.now() - lastInput <= ATTENTIVE;
  return isAttentive && !failed ? SHORTEST : Math.min(before * GROWTH, LONGEST);
}

export interface Loaded<Value> {
  /** Undefined until the first reply. */
  readonly value: Value | undefined;
  /** Why the last try failed; the value is then that of an earlier one. */
  readonly error: string | undefined;
  /** Loads it again. The value stays until then. */
  readonly refresh: () => void;
}

interface LiveOptions<Value> {
  /** True loads the value only once, and on `refresh`. */
  readonly once?: boolean;
  /** The shortest interval, ms. @default 5,000 */
  readonly every?: number;
  /** Loads the value again whenever it changes, as `refresh` does. */
  readonly round?: number;
  /** Whether a value is final, and is not read again by itself. */
  readonly isFinal?: (value: Value) => boolean;
  /** Returns the value of the key before until that of the new key has arrived. */
  readonly keep?: boolean;
}

/**
 * Loads a value, and loads it again while the page is visible: each five seconds or `every`, and less often the longer
 * there was no input or the server fails, up to a minute. One request is under way at a time.
 * @param load called again if `key` changes
 * @param key what the value belongs to
 */
export function useLive<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  key: string,
  { once = false, every = 0, round = 0, isFinal, keep = false }: LiveOptions<Value> = {},
): Loaded<Value> {
  const [state, setState] = useState<Omit<Loaded<Value>, "refresh"> & { readonly key: string }>({
    key,
    value: undefined,
    error: undefined,
  });
  const repeats = useStore(isLive) && !once;
  const latest = useRef({ load, isFinal, every });
  latest.current = { load, isFinal, every };
  const reload = useRef(() => {});
  const lastRound = useRef(round);

  useEffect(() => {
    const ended = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let interval: number | undefined;
    let loading = false;
    let again = false;
    let done = false;
    let lastAt = 0;
    const next = (failed: boolean) => {
      if (!repeats || done || document.hidden) return;
      interval = nextInterval(interval, failed);
      timer = setTimeout(() => void run(), Math.max(latest.current.every, interval));
    };
    const run = async (): Promise<void> => {
      clearTimeout(timer);
      if (loading) {
        again = true;
        return undefined;
      }
      [loading, again, lastAt] = [true, false, Date.now()];
      let failed = false;
      try {
        const value = await latest.current.load(ended.signal);
        if (ended.signal.aborted) return undefined;
        setState({ key, value, error: undefined });
        done = latest.current.isFinal?.(value) ?? false;
      } catch (error) {
        if (ended.signal.aborted || !signedIn.value) return undefined;
        failed = true;
        const message = error instanceof RequestError ? error.message : String(error);
        setState((before) => ({
          ...(before.key === key || keep ? before : { value: undefined }),
          key,
          error: message,
        }));
      }
      loading = false;
      if (again) return run();
      next(failed);
      return undefined;
    };
    const shown = () => {
      clearTimeout(timer);
      if (document.hidden || !repeats || loading) return;
      timer = setTimeout(() => void run(), Math.max(0, lastAt + latest.current.every - Date.now()));
    };
    reload.current = () => void run();
    lastRound.current = round;
    void run();
    document.addEventListener("visibilitychange", shown);
    return () => {
      ended.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", shown);
    };
  }, [key, repeats]);

  useEffect(() => {
    if (lastRound.current === round) return;
    lastRound.current = round;
    reload.current();
  }, [round]);

  const refresh = useCallback(() => reload.current(), []);
  const { key: of, value, error } = state;
  if (of === key) return { value, error, refresh };
  return { value: keep ? value : undefined, error: undefined, refresh };
}
