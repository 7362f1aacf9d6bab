import type { Deployed } from "../acceptance.ts";
import { Folder, freePorts } from "../newcomer.ts";

/** A folder with the tools that the page about Lambda installs. */
export const lambdaFolder = (example: string): Promise<Folder> =>
  Folder.open({
    example,
    tools: "test/platforms/lambda",
    packages: ["serverless-offline"],
    commands: ["esbuild", "osls"],
  });

export interface Offline extends Deployed {
  readonly url: string;
  /** A command of the page, with the ports of this run. */
  readonly here: (command: string) => string;
  /** Calls the function as AWS does, with an event of any kind. Returns its result. */
  readonly invoke: (event: unknown) => Promise<unknown>;
}

/** Runs the functions of serverless.yml on ports of its own, until the folder is closed. */
export async function startOffline(
  folder: Folder,
  functionName: string,
  command = "SLUICE_WAKE_URL=http://127.0.0.1:3000/wake npx osls offline --host 127.0.0.1",
): Promise<Offline> {
  const [httpPort = 0, lambdaPort = 0] = await freePorts(2);
  const url = `http://127.0.0.1:${httpPort}`;
  const functions = `http://127.0.0.1:${lambdaPort}`;
  const here = (line: string) =>
    line.replace("http://127.0.0.1:3000", url).replace("http://127.0.0.1:3002", functions);
  await folder.start(`${here(command)} --httpPort ${httpPort} --lambdaPort ${lambdaPort}`, url);
  const invoke = async (event: unknown) => {
    const response = await fetch(`${functions}/2015-03-31/functions/${functionName}/invocations`, {
      method: "POST",
      body: JSON.stringify(event),
    });
    const text = await response.text();
    if (!response.ok || response.headers.has("x-amz-function-error")) throw new Error(text);
    return text === "" ? undefined : JSON.parse(text);
  };
  return {
    url,
    here,
    invoke,
    stop: () => folder.close(),
    cron: () => invoke({ source: "aws.events", "detail-type": "Scheduled Event", detail: {} }),
    async fetch({ url: asked, method, headers, body }) {
      const { pathname, search } = new URL(asked);
      const init = { method, headers, body, ...(body && { duplex: "half" }) };
      return fetch(url + pathname + search, init);
    },
  };
}
