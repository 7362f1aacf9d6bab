import { endsInOrder } from "../process/ending.ts";

endsInOrder("node", "node main.ts");
