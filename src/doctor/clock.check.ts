import { findingsOf, type Finding } from './finding.js';

const { ok, warning, failed } = findingsOf('clock');

/** Milliseconds. Expiry of keys, freshness and valid times are read off this clock, recorded times off the other one. */
const noticeable = 2_000;
const harmful = 60_000;

const advice = 'set both clocks by NTP; a clock that was ahead leaves recorded times ahead until it is overtaken';

/** @param theirs milliseconds since 1970, at the moment that was `ours` here, give or take `uncertainty` */
export function clockSkew(
  whose: string,
  { theirs, ours, uncertainty }: { theirs: number; ours: number; uncertainty: number },
): Finding {
  const apart = Math.max(0, Math.abs(theirs - ours) - uncertainty);
  if (apart < noticeable) return ok(`this clock agrees with that of ${whose}`);
  const message = `the clock of ${whose} is ${seconds(apart)} ${theirs > ours ? 'ahead of' : 'behind'} this one`;
  return apart < harmful ? warning(message, advice) : failed(message, advice);
}

/** An event cannot be of the future: the log's clock is, or was, ahead. One of the past tells nothing. */
export function newestEvent(recordedAt: Date, now: number): Finding {
  const ahead = recordedAt.getTime() - now;
  if (ahead < noticeable) return ok('the last event of the log is not of the future');
  const message = `the last event of the log is ${seconds(ahead)} of the future`;
  return ahead < harmful ? warning(message, advice) : failed(message, advice);
}

const seconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`;
