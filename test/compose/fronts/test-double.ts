import { testDeployment } from "../../../src/testing/index.ts";
import type { StartFront } from "../front.ts";
import { deploymentOf, ownPages } from "./own-pages.ts";

/** `testDeployment` of `sluice-queue/testing`, on its own database, with its own clock. */
export const testDouble: StartFront = async (_, given) => {
  const env = { SLUICE_PREFIX: given.prefix };
  const app = testDeployment(deploymentOf(given), { env });
  const reply = async (...command: [string, ...string[]]) => {
    const [outcome] = await app.transport.send([command]);
    if (!outcome || !("reply" in outcome)) throw new Error(JSON.stringify(outcome));
    return outcome.reply as string[];
  };
  const held = async (key: string) => {
    // The own keys of a queue with partitions hold markers.
    return String(await reply("TYPE", key)) === "hash" ? reply("HGETALL", key) : [];
  };
  return {
    ...ownPages((request) => app.fetch(request)),
    run: () => app.advance("1s"),
    async stored() {
      const keys = await reply("KEYS", "*");
      const hashes = keys.filter((key) => key.endsWith(":tasks"));
      return { keys, text: JSON.stringify(await Promise.all(hashes.map(held))) };
    },
    stop: async () => {},
  };
};
