import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { freePorts } from "./newcomer.ts";
import { commands } from "./process/project.ts";
import { mailServiceOf } from "./quick-start.ts";

// The pages offer a mail service of one command, to try their example against.
it.each(["cloudflare", "node", "bun", "deno"])("the mail service of the page on %s", async (platform) => {
  const [port = 0] = await freePorts(1);
  const command = mailServiceOf(`docs/platforms/${platform}.md`)?.replace("9090", String(port)) ?? "false";
  const folders = [
    ...Object.values({ node: commands.node, deno: commands.deno, bun: commands.bun }).map((program) =>
      dirname(program),
    ),
    process.env["PATH"],
  ];
  const service = spawn("bash", ["-c", `exec ${command}`], { env: { PATH: folders.join(":") } });
  try {
    const url = `http://127.0.0.1:${port}`;
    const send = async (to: string) =>
      (await fetch(url, { method: "POST", body: JSON.stringify({ to }) })).status;
    await expect.poll(() => send("a@example.com").catch(() => 0), { timeout: 20_000 }).toBe(204);
    expect(await send("c@example.com")).toBe(422);
  } finally {
    service.kill();
  }
});
