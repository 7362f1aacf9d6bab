import { acceptance } from "./acceptance.ts";
import { deployedBy } from "./process/deployed.ts";

acceptance("Node", deployedBy("node", "node main.ts"));
