/** The part of Next.js that is used here, so that the types are checked where it is not installed. */
declare module "next/server.js" {
  export function after(work: Promise<unknown> | (() => unknown)): void;
}
