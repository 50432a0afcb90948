import { readConfiguration } from './config/configuration.js';
import { startService } from './service.js';

/** Serves until it is told to stop. What stops start-up is told in one line that says what to do. */
try {
  const service = await startService(readConfiguration(process.env));
  service.infrastructure.logger.records.info({ url: service.url }, 'Mneme serves');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      void service.stop().then(() => process.exit(0));
    });
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : 'Mneme could not start'}\n`);
  process.exitCode = 1;
}
