// Files that share a process share its globals. `@hono/node-server` replaces Request and Response: each file
// begins with those of the runtime.

const names = ["Request", "Response"] as const;
const first = globalThis as { ownGlobals?: [string, PropertyDescriptor | undefined][] };
first.ownGlobals ??= names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]);
for (const [name, descriptor] of first.ownGlobals)
  if (descriptor) Object.defineProperty(globalThis, name, descriptor);
