import { acceptance } from "../acceptance.ts";
import { deployedBy } from "../process/deployed.ts";
import { endsInOrder } from "../process/ending.ts";

acceptance("Node", deployedBy("node", "node main.ts"), { compresses: true });
endsInOrder("node", "node main.ts");
