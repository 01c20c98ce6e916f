/** Returns what is made of 0, 1, 2 and so on, so many numbers. */
export const range = <T>(size: number, make: (place: number) => T): T[] =>
  Array.from({ length: size }, (_, place) => make(place));
