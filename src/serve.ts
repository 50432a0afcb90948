import type { Configuration } from './config/configuration.js';
import { errorFacts } from './error-facts.js';
import { type RunningService, startService } from './service.js';

export interface ServeOptions {
  /** Fired when the service is to stop. A start is not cut short, so that no database is left half made: it stops afterwards. */
  readonly signal: AbortSignal;
  /** Called once it answers. */
  readonly onServing?: (service: RunningService) => void;
}

/**
 * Serves until the signal fires.
 *
 * When the embedded database ends by itself, the process ends at once with exit code 1: it could only refuse everything, and
 * whatever supervises it starts another, which finds the data as it was at the last commit.
 *
 * @throws what stops the start, see `startService`, and what stopping fails with
 */
export async function serve(configuration: Configuration, { signal, onServing }: ServeOptions): Promise<void> {
  const service = await startService(configuration);
  const { databaseLost, logger } = service.infrastructure;
  void databaseLost.then((reason) => {
    logger.records.fatal(errorFacts(reason), 'the embedded database ended by itself');
    process.exit(1);
  });
  if (!signal.aborted) {
    logger.records.info({ url: service.url }, 'Mneme serves');
    onServing?.(service);
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
  await service.stop();
}

/** Exit code of a process that was told twice to stop. */
const impatient = 130;

/** Fires at the first SIGINT or SIGTERM. The second ends the process: whoever sends it does not want to wait for a clean end. */
export function toldToStop(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(impatient);
      controller.abort();
    });
  }
  return controller.signal;
}
