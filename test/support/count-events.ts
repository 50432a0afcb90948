import type { Infrastructure } from '../../src/infrastructure.js';

/** How many events of this installation the log holds. Positions cannot say: on EventStoreDB they count bytes. */
export async function countEvents({ log, codec }: Pick<Infrastructure, 'log' | 'codec'>): Promise<number> {
  let count = 0;
  for await (const event of log.readAll({ after: -1n, prefix: codec.streamPrefix })) count += event.position >= 0n ? 1 : 0;
  return count;
}
