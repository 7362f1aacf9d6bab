// What is used of `next/server.js`, for tests where Next.js is not installed: `after`, in requests that a test makes.

import { AsyncLocalStorage } from "node:async_hooks";
import type { WaitUntil } from "../../src/deploy/service.ts";

interface CurrentRequest {
  readonly waitUntil: WaitUntil;
  readonly responded: Promise<void>;
}

const current = new AsyncLocalStorage<CurrentRequest>();

/** Runs work after the response of the request, in the context of its caller. */
export function after(work: Promise<unknown> | (() => unknown)): void {
  const request = current.getStore();
  if (!request) throw new Error("`after` was called outside a request scope");
  const { waitUntil, responded } = request;
  waitUntil(typeof work === "function" ? responded.then(work) : work);
}

/** Whether the caller runs in a request, of which a handler must not know. */
export const isInRequest = () => current.getStore() !== undefined;

/**
 * Handles a request, as Next.js does.
 * @param waitUntil gets the work that goes on after the response
 */
export async function inRequest<T>(waitUntil: WaitUntil, handle: () => Promise<T>): Promise<T> {
  let respond = () => {};
  const responded = new Promise<void>((resolve) => (respond = resolve));
  try {
    return await current.run({ waitUntil, responded }, handle);
  } finally {
    respond();
  }
}
