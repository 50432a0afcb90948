import type { CommandRequest } from '../../src/event-log/execute.js';
import { newCommandId } from '../../src/event-log/ids.js';
import { systemTeam } from '../../src/event-log/stream-name.js';

/** A command of an operator; with an id, the same one again. */
export const request = (commandId: string = newCommandId()): CommandRequest => ({
  context: { commandId, correlationId: 'of-the-operator', team: systemTeam, apiKey: 'key-of-the-operator' },
});
