// npm run test:embedded: runs every script under the faults of the network, the model and conformance, or the
// named tests, on the embedded store in place of redis-server:
// `npm run test:embedded -- test/kernel/groups/groups.test.ts`.

import { ensureDependencies, main } from "./setup.mjs";
import { runOnEmbedded } from "./on-embedded.mjs";

void main(async () => {
  await ensureDependencies();
  runOnEmbedded(["test/proofs/fault/every-script.test.ts", "test/proofs/model", "test/proofs/conformance"]);
});
