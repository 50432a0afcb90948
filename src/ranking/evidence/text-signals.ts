import { cuesOf } from '../query/cues.js';

/** Part of the version of every read model that holds these signals. */
export const textSignalsVersion = 1;

export interface TextSignals {
  /** It ends in a question, and so asks more than it says. */
  readonly asks: boolean;
  /** It has a date, a weekday, or a span of time in it. */
  readonly tellsTime: boolean;
}

/** Question marks of Latin, full-width, Arabic and Armenian writing, with closing marks and emoji behind them. */
const endsInQuestion = /[?？؟՞][\s"'”’)\]\p{Extended_Pictographic}\u200D\uFE0F]{0,16}$/u;

/** What a text says about itself, without a question to compare it with. */
export function textSignals(content: string, language: string): TextSignals {
  return { asks: endsInQuestion.test(content.slice(-200).trimEnd()), tellsTime: cuesOf(language).tellsTime.test(content) };
}
