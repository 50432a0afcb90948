import { SingleBar } from 'cli-progress';
import type { Output } from './output.js';

export interface Progress {
  show(done: number, total: number, text?: string): void;
  stop(): void;
}

const silent: Progress = { show: () => undefined, stop: () => undefined };

/** On a terminal only: in a log file every step of a bar would be another line. */
export function progressOf(output: Output, name: string): Progress {
  if (!output.animated) return silent;
  const bar = new SingleBar({
    format: `${name} {bar} {percentage} % | {text}`,
    stream: output.stderr as NodeJS.WritableStream,
    hideCursor: true,
    clearOnComplete: true,
  });
  bar.start(1, 0, { text: '' });
  return {
    show: (done, total, text = '') => {
      bar.setTotal(Math.max(total, 1));
      bar.update(done, { text });
    },
    stop: () => bar.stop(),
  };
}
