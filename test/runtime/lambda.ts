import type { Deployed } from "./acceptance.ts";
import { Folder, freePorts } from "./newcomer.ts";

/** A folder with the tools that the page about Lambda installs. */
export const lambdaFolder = (example: string): Promise<Folder> =>
  Folder.open({
    example,
    platform: "lambda",
    packages: ["serverless-offline"],
    commands: ["esbuild", "osls"],
  });

export interface Offline extends Deployed {
  readonly url: string;
  /** Calls the function as AWS does, with an event of any kind; what it returns. */
  readonly invoke: (event: object) => Promise<unknown>;
}

/** Runs what serverless.yml describes, on ports of its own, until the folder is closed. */
export async function startOffline(
  folder: Folder,
  functionName: string,
  env: Readonly<Record<string, string>>,
  command = "npx osls offline",
): Promise<Offline> {
  const [httpPort = 0, lambdaPort = 0] = await freePorts(2);
  const url = `http://127.0.0.1:${httpPort}`;
  await folder.writeEnv({ ...env, SLUICE_WAKE_URL: `${url}/wake` });
  const ports = `--host 127.0.0.1 --httpPort ${httpPort} --lambdaPort ${lambdaPort}`;
  await folder.start(`${command} ${ports}`, url);
  const invoke = async (event: object) => {
    const functions = `http://127.0.0.1:${lambdaPort}/2015-03-31/functions`;
    const response = await fetch(`${functions}/${functionName}/invocations`, {
      method: "POST",
      body: JSON.stringify(event),
    });
    const text = await response.text();
    if (!response.ok || response.headers.has("x-amz-function-error")) throw new Error(text);
    return text === "" ? undefined : JSON.parse(text);
  };
  return {
    url,
    invoke,
    stop: () => folder.close(),
    cron: () => invoke({ source: "aws.events", "detail-type": "Scheduled Event", detail: {} }),
    async fetch({ url: asked, method, headers, body }) {
      const { pathname, search } = new URL(asked);
      const init = { method, headers, body, ...(body && { duplex: "half" }) };
      return fetch(url + pathname + search, init as RequestInit);
    },
  };
}
