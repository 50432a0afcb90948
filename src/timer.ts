/** What one timer of Node can wait for, milliseconds: 2^31 - 1, about 24.8 days. Asked for more, it fires after one. */
const longestTimer = 2_147_483_647;

/**
 * Calls `fire` once after any number of milliseconds.
 *
 * @param longestStep milliseconds that are left to one timer of Node
 * @returns what stops it
 */
export function startTimer(milliseconds: number, fire: () => void, longestStep: number = longestTimer): () => void {
  let timer: NodeJS.Timeout;
  const wait = (left: number) => {
    const step = Math.min(left, longestStep);
    timer = setTimeout(() => (left > step ? wait(left - step) : fire()), step);
  };
  wait(milliseconds);
  return () => clearTimeout(timer);
}
