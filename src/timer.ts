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

/**
 * What the work comes to, or `late` when it takes longer; it goes on then, and nobody hears of it.
 *
 * @throws what the work throws in time
 */
export async function inTime<T>(work: Promise<T>, milliseconds: number): Promise<T | 'late'> {
  let stop = () => {};
  const late = new Promise<'late'>((resolve) => {
    stop = startTimer(milliseconds, () => resolve('late'));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    stop();
  }
}
