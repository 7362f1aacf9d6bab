export {
  EmbeddedDatabase,
  type EmbeddedConnection,
  type EmbeddedDatabaseOptions,
  type TextReply,
} from "./database.ts";
export { embedded, type EmbeddedTransportOptions } from "./transport.ts";
export { ReplyError } from "./reply.ts";
export { InvalidSnapshot } from "./snapshot.ts";
export { startEmbeddedServer, type EmbeddedServer } from "./resp-server.ts";
