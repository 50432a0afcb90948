import { Clock } from '../../src/config/clock.js';

/** A clock that stands still until it is told otherwise. */
export class TestClock extends Clock {
  constructor(private time = new Date('2026-06-01T12:00:00Z')) {
    super();
  }

  now(): Date {
    return this.time;
  }

  set(time: Date): void {
    this.time = time;
  }
}
