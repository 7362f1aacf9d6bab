import { expect, it } from "vitest";
import { acceptance, type Deployed, type Place } from "./acceptance.ts";
import { CronCaller } from "./process/deno-cron.ts";
import { end, openDeployment } from "./process/deployed.ts";
import { endsInOrder } from "./process/ending.ts";

const command = "deno run --allow-net --allow-env --unstable-cron main.ts";
const cron = new CronCaller();

async function deploy({ env }: Place): Promise<Deployed> {
  const [project, leading] = [await openDeployment("deno"), await cron.listen()];
  const server = await project.start(command, { ...env, ...leading });
  return {
    fetch: (request) => server.fetch(request),
    cron: () => cron.call("sluice"),
    async stop() {
      try {
        await end(server);
      } finally {
        await cron.close();
        await project.close();
      }
    },
  };
}

acceptance("Deno", deploy);

it("asks Deno for one cron, every minute", () => {
  expect(cron.registered).toEqual(["sluice * * * * *"]);
});

endsInOrder("deno", command);
