import { useEffect, useState } from "preact/hooks";

/** A value that several components share. */
export interface Store<Value> {
  readonly value: Value;
  set(value: Value): void;
  /** Calls the listener after each change. Returns what ends it. */
  listen(listener: () => void): () => void;
}

export function store<Value>(initial: Value): Store<Value> {
  let current = initial;
  const listeners = new Set<() => void>();
  return {
    get value() {
      return current;
    },
    set(value) {
      current = value;
      for (const listener of listeners) listener();
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The value of a store; the component is drawn again after each change. */
export function useStore<Value>(of: Store<Value>): Value {
  const [value, setValue] = useState(() => of.value);
  useEffect(() => {
    const update = () => setValue(() => of.value);
    update();
    return of.listen(update);
  }, [of]);
  return value;
}

/** A store that the browser keeps for the next visit. Without storage it works until the page is left. */
export function keptFlag(name: string, initial: boolean): Store<boolean> {
  const key = `sluice ${name}`;
  const read = (): string | null => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  };
  const saved = read();
  const flag = store(saved === null ? initial : saved === "1");
  flag.listen(() => {
    try {
      localStorage.setItem(key, flag.value ? "1" : "0");
    } catch {
      // The browser keeps nothing, as in a private window.
    }
  });
  return flag;
}
