const { PATH, NODE_COMPILE_CACHE } = process.env;

/** What a process with an environment of its own has of this one's: it finds programs, and what Node has compiled. */
export const essentials: Readonly<Record<string, string>> = {
  ...(PATH && { PATH }),
  ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
};
