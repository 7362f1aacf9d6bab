import { startWorker } from "../../../tools/workerd/harness.ts";
import { sharesEncryptionWithNode } from "../encryption.ts";

sharesEncryptionWithNode(async (env) => {
  const { server, ...worker } = await startWorker("test/platforms/cloudflare/encrypting.toml", env);
  return { ...worker, stop: () => server.close() };
});
