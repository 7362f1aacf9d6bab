import { afterAll, beforeAll } from "vitest";
import { type RunningWorker, startWorker } from "../../../tools/workerd/harness.ts";
import { asker, type Ask } from "../../http/served.ts";
import { openPlace, type Place } from "../place.ts";

export interface WorkerRig extends RunningWorker {
  readonly place: Place;
  readonly ask: Ask;
}

/** A Worker in workerd with its place, for the tests of a file. */
export function useWorker(config: string): WorkerRig {
  const rig = {} as { -readonly [Name in keyof WorkerRig]: WorkerRig[Name] };
  let place: Awaited<ReturnType<typeof openPlace>>;
  beforeAll(async () => {
    place = await openPlace();
    Object.assign(rig, { place, ...(await startWorker(config, place.env)) });
    rig.ask = asker(rig.fetch);
  });
  afterAll(async () => {
    await rig.server?.close();
    await place?.close();
  });
  return rig;
}
