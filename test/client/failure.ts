import { expect } from "vitest";
import type { SluiceErrorCode } from "../../src/client/index.ts";
import { secrets } from "../http/served.ts";
import type { Fault } from "./rig.ts";

/** A payload that no error may show. */
export const payload = "a-payload-that-no-error-shows";

/** The code, message and path of an error, after a check that it shows no secret. */
export async function failure(run: () => Promise<unknown>) {
  const error = await run().then(
    () => expect.unreachable("nothing was thrown"),
    (thrown: unknown) => thrown as Error & { code: SluiceErrorCode; path?: string },
  );
  const shown = [error.message, error.stack, JSON.stringify(error), String(error.cause)].join();
  for (const secret of [payload, ...Object.values(secrets)]) expect(shown).not.toContain(secret);
  const { name, code, message, path } = error;
  expect(name).toBe("SluiceError");
  return { code, message, ...(path !== undefined && { path }) };
}

/** A problem as the server would write it, with fields beside which secrets could be. */
export function problemOf(code: string, status: number): Fault {
  const body = JSON.stringify({ code, status, detail: `About ${code}.` });
  return { status, body, headers: { "content-type": "application/problem+json" } };
}
