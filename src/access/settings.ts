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
}

export const defaultSettings: Settings = { review: false, language: 'english', recording: false };
