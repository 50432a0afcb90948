/** The longest beginning of a text that has at most so many bytes in UTF-8, and no half character at its end. */
export function firstBytes(text: string, bytes: number): string {
  const encoded = Buffer.from(text);
  if (encoded.length <= bytes) return text;
  let end = Math.max(0, bytes);
  while (end > 0 && ((encoded[end] ?? 0) & 0b1100_0000) === 0b1000_0000) end -= 1;
  return encoded.toString('utf8', 0, end);
}
