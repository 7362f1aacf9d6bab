import { acceptance } from "../acceptance.ts";
import { deployedBy } from "../process/deployed.ts";
import { endsInOrder } from "../process/ending.ts";

acceptance("Bun", deployedBy("bun", "bun main.ts"), { compresses: true });
endsInOrder("bun", "bun main.ts");
