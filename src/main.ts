import { readConfiguration } from './config/configuration.js';
import { serve, toldToStop } from './serve.js';

/** The service as a process of its own. What it ends with is told in words that say what to do. */
const signal = toldToStop();
try {
  await serve(readConfiguration(process.env), { signal });
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : 'Mneme failed'}\n`);
  process.exit(1);
}
