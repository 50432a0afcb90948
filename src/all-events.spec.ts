import { everyEventTypeHasAGoldenFixture } from '../test/support/golden.js';
import { eventCatalogue } from './all-events.js';

it('every event type has a golden fixture for each of its versions', () => everyEventTypeHasAGoldenFixture(eventCatalogue));
