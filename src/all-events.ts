import { accessEvents } from './access/team.js';
import { EventCatalogue } from './event-log/event-catalogue.js';
import { logEvents } from './event-log/log-identity.js';
import { evidenceEvents } from './evidence/evidence.js';
import { sourceEvents } from './evidence/source.js';
import { operationEvents } from './operations/operation.js';
import { executionEvents } from './procedures/execution.js';
import { procedureEvents } from './procedures/procedure.js';

/** Every event type the product knows; a gap in an upcaster chain stops start-up here. */
export const eventCatalogue = new EventCatalogue([
  logEvents,
  accessEvents,
  evidenceEvents,
  sourceEvents,
  procedureEvents,
  executionEvents,
  operationEvents,
]);
