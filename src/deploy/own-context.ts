import { builtinModule } from "../environment.ts";

/** Runs work in another context than that of its caller. */
export type InContext = <R>(run: () => R) => R;

/**
 * Takes the values that each AsyncLocalStorage has now, so that what a deployment runs for many requests has them,
 * and not those of the request that happened to start it. If the runtime has no `AsyncLocalStorage.snapshot()`, work
 * keeps the context of its caller.
 */
export function ownContext(): InContext {
  const inSnapshot = snapshot();
  if (!inSnapshot) return (run) => run();
  return (run) => {
    let hasBegun = false;
    const begin = () => {
      hasBegun = true;
      return run();
    };
    try {
      return inSnapshot(begin);
    } catch (error) {
      // A Worker refuses a snapshot of another request, if the deployment was made in one.
      if (hasBegun) throw error;
      return run();
    }
  };
}

function snapshot(): InContext | undefined {
  try {
    const { AsyncLocalStorage } = builtinModule("node:async_hooks") ?? (globalThis as EdgeGlobals);
    return AsyncLocalStorage?.snapshot();
  } catch {
    return undefined;
  }
}

/** Edge functions of Vercel and Next.js have the class as a global. */
interface EdgeGlobals {
  readonly AsyncLocalStorage?: { snapshot(): InContext };
}
