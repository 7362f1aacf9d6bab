import { expect } from "vitest";
import { encrypting, MARKER, shows } from "../../support/encrypting.ts";
import type { Feature } from "../feature.ts";
import { type Front, work } from "../front.ts";

/** Handlers and callers see payloads and results; what is stored never does. */
export const encryption: Feature = () => {
  const payloads: unknown[] = [];
  const shown: boolean[] = [];
  let stored: Front["stored"];
  const look = async () => void shown.push(shows((await stored()).text));
  return {
    given: {
      declaration: { encryption: encrypting() },
      concurrency: 1,
      async handler({ payload }) {
        payloads.push(payload);
        await look();
        return payload;
      },
    },
    async run(front) {
      stored = front.stored;
      const payload = { text: MARKER };
      await front.add([{ payload, id: "secret" }]);
      await look();
      await work(front, () => payloads.length > 0);
      await look();
      expect(payloads).toEqual([payload]);
      expect(shown).toEqual([false, false, false]);
      expect(await front.get("secret")).toMatchObject({ state: "completed", result: payload });
    },
  };
};
