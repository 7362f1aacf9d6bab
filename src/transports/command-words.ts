/** A command for Redis: its name and its arguments. */
export type CommandWords = readonly string[];
