/** Cosine of two vectors, -1 to 1, in double precision. */
export function cosine(left: ArrayLike<number> | undefined, right: ArrayLike<number> | undefined): number {
  if (!left || !right || left.length !== right.length) throw new Error('two vectors of one length are needed');
  let product = 0;
  let leftSquares = 0;
  let rightSquares = 0;
  for (let index = 0; index < left.length; index += 1) {
    const a = left[index] ?? 0;
    const b = right[index] ?? 0;
    product += a * b;
    leftSquares += a * a;
    rightSquares += b * b;
  }
  return product / Math.sqrt(leftSquares * rightSquares);
}
