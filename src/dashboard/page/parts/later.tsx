import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Waiting } from "./layout.tsx";

/** A component whose code the browser loads when it is shown first. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function Later(props: Props) {
    const [error, setError] = useState<string | undefined>();
    const [, setReady] = useState(false);
    useEffect(() => {
      if (loaded) return;
      load().then(
        (component) => {
          loaded = component;
          setReady(true);
        },
        // After a deployment the code is elsewhere; browsers may remember that it was not there.
        () => setError("A part of this page cannot be loaded."),
      );
    }, []);
    const Loaded = loaded;
    return Loaded ? <Loaded {...props} /> : <Waiting error={error} retry={() => location.reload()} />;
  };
}
