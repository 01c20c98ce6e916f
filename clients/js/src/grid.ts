/** A square grid whose cells lie in Morton order where its side is a power of two, else row by row. */

const tree = (side: number): boolean => (side & (side - 1)) === 0;

/** Returns the cell across and up of the lower left corner. */
export function cell(side: number, across: number, up: number): number {
  if (!tree(side)) return across * side + up;
  let found = 0;
  for (let bit = 0; side >> bit > 1; bit++)
    found |= (((across >> bit) & 1) << (2 * bit + 1)) | (((up >> bit) & 1) << (2 * bit));
  return found;
}

/** Returns the places across and up of a cell. */
export function place(side: number, cell: number): [across: number, up: number] {
  if (!tree(side)) return [Math.floor(cell / side), cell % side];
  let [across, up] = [0, 0];
  for (let bit = 0; side >> bit > 1; bit++) {
    across |= ((cell >> (2 * bit + 1)) & 1) << bit;
    up |= ((cell >> (2 * bit)) & 1) << bit;
  }
  return [across, up];
}
