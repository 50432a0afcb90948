/** Languages whose stemmer we have (Snowball); the team's language says how its texts are indexed. */
export const languages = [
  'arabic',
  'armenian',
  'basque',
  'catalan',
  'danish',
  'dutch',
  'english',
  'finnish',
  'french',
  'german',
  'greek',
  'hindi',
  'hungarian',
  'indonesian',
  'irish',
  'italian',
  'lithuanian',
  'nepali',
  'norwegian',
  'portuguese',
  'romanian',
  'russian',
  'serbian',
  'spanish',
  'swedish',
  'tamil',
  'turkish',
  'yiddish',
] as const;

export type Language = (typeof languages)[number];

export interface Settings {
  /** Whether new procedure versions wait for review. */
  readonly review: boolean;
  readonly language: Language;
  /** Whether recalls are recorded. */
  readonly recording: boolean;
  /** Days after which a run of a procedure loses its verdicts, 1 to 36,500; null keeps them for ever. */
  readonly execution_retention_days: number | null;
}

export const defaultSettings: Settings = { review: false, language: 'english', recording: false, execution_retention_days: null };

/** A hundred years: more than anybody means, and far from where dates end. */
export const longestRetentionDays = 36_500;
