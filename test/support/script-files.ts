/** The file in lua/ of the script with that name. */
export const fileOf = (name: string) =>
  `${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}.lua`;
