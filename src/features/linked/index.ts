/** The linked edition of the scripts: for groups in strict order, and flows. */
export { linked } from "../../kernel/linked/linked-transport.ts";
