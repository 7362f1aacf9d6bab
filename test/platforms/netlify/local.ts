import { setTimeout as sleep } from "node:timers/promises";
import type { Deployed } from "../acceptance.ts";
import { Folder, freePorts } from "../newcomer.ts";

/**
 * A folder with the tool that the page about Netlify installs, and the Deno that the tool downloads if
 * needed.
 */
export const netlifyFolder = (example: string): Promise<Folder> => {
  const env = { BROWSER: "none" };
  return Folder.open({ example, tools: "test/platforms/netlify", commands: ["netlify", "deno"], env });
};

export interface Local extends Deployed {
  readonly url: string;
  readonly port: number;
}

/**
 * Serves the folder's functions on a port of its own, until the folder is closed. Cron is the function
 * `cron`.
 */
export async function startNetlify(folder: Folder, command: string): Promise<Local> {
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  await folder.start(`${command} --port ${port}`, url);
  // It listens before it has loaded the functions.
  while (!(await fetch(`${url}/health`)).ok) await sleep(100);
  return {
    url,
    port,
    stop: () => folder.close(),
    async cron() {
      const response = await fetch(`${url}/.netlify/functions/cron`, { method: "POST" });
      if (!response.ok) throw new Error(`cron: HTTP ${response.status} ${await response.text()}`);
      await response.body?.cancel();
    },
    async fetch({ url: asked, method, headers, body }) {
      const { pathname, search } = new URL(asked);
      return fetch(url + pathname + search, { method, headers, body, ...(body && { duplex: "half" }) });
    },
  };
}
