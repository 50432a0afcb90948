/** Where "now" comes from. Recorded time is the log's own; this one dates freshness, expiry and the like. */
export abstract class Clock {
  abstract now(): Date;
}

export class SystemClock extends Clock {
  now(): Date {
    return new Date();
  }
}
