import { useEffect, useState } from "preact/hooks";

/** How long the viewer has stopped typing before something is read for it, ms. */
const SETTLED = 400;

/** The value once it has not changed for a moment. */
export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(() => value), SETTLED);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
