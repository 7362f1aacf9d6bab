/** The part of Next.js that is used here, so that the types are checked where it is not installed. */
declare module "next/server.js" {
  export function after(work: Promise<unknown> | (() => unknown)): void;
}

/** Next.js refuses its import in a client component. */
declare module "server-only" {}
