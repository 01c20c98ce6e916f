/** Numbers of the page's data. */

/** Returns numbers that stand as a list, or as base64 of float64, little-endian. */
export function unpacked(numbers) {
  if (typeof numbers !== "string") return Float64Array.from(numbers);
  const bytes = Uint8Array.from(atob(numbers), (one) => one.charCodeAt(0));
  return new Float64Array(bytes.buffer);
}

/** Returns the sum of products. */
export function dot(one, other) {
  let sum = 0;
  for (let i = 0; i < one.length; i++) sum += one[i] * other[i];
  return sum;
}
