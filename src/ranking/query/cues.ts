/**
 * Words by which a question asks for something beside its topic. English; in other languages the words are content like
 * any other, and the signals stay off.
 */
interface Cues {
  /** The question wants what holds now. */
  readonly currentness: RegExp;
  /** The question wants a time for an answer. */
  readonly asksTime: RegExp;
  /** A text that tells a time. */
  readonly tellsTime: RegExp;
}

const english: Cues = {
  currentness:
    /\b(?:currently|current|as of now|right now|nowadays|these days|at present|at the moment|latest|newest|most recent|up[- ]to[- ]date|still)\b/i,
  asksTime: /\b(?:when|(?:what|which) (?:day|date|week|month|year|time)|how long|how old|since when|until when)\b/i,
  tellsTime:
    /\b(?:yesterday|today|tonight|tomorrow|ago|since|recently|(?:last|next|this|past|few|couple of|every) (?:few )?(?:night|day|week|weekend|month|year|spring|summer|fall|autumn|winter|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|june|july|august|september|october|november|december|(?:in|on|since|until|of|by) may|may \d{1,2}|(?:19|20)\d{2}|\d{1,2}[:.]\d{2}|\d{1,2} ?(?:am|pm)|(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|several|few|many) (?:minute|hour|day|week|weekend|month|year)s?)\b/i,
};

const none: Cues = { currentness: /(?!)/, asksTime: /(?!)/, tellsTime: /(?!)/ };

export const cuesOf = (language: string): Cues => (language === 'english' ? english : none);
