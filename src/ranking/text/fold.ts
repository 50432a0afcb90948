/** Letters that no normal form takes apart, and that people without the right keyboard write so. */
const plainSpelling: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
  ς: 'σ',
  '\u2019': "'",
  '\u02BC': "'",
};

/**
 * Marks that only say how a letter sounds: accents of Latin, Greek and Cyrillic, points of Hebrew, vowel signs and the
 * lengthening stroke of Arabic. Marks of other scripts are letters of their own kind (の and its voiced form) and stay.
 * й keeps its mark, because the Russian stemmer and every reader take it for a letter.
 */
const mark =
  /([иИ]\u0306)|[\u0300-\u036F\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u0610-\u061A\u0640\u064B-\u065F\u0670\u1AB0-\u1AFF\u1DC0-\u1DFF\u20D0-\u20FF]/g;

/** Written for line breaking and direction only: they part no words. */
const invisible = /[\u00AD\u061C\u200C-\u200F\u202A-\u202E\u2060-\u2064\uFEFF]/g;

const special = new RegExp(`[${Object.keys(plainSpelling).join('')}]`, 'g');

/**
 * The form in which words are compared: compatibility characters resolved (NFKC), case and accents gone.
 *
 * Accents go before stemming, not after it: otherwise `café` and `cafe` would meet only where the stemmer happens to treat
 * both alike. Folding what is folded changes nothing.
 */
export function fold(text: string): string {
  let folded = foldOnce(text);
  // A composed form may fold further (a mark that was hidden in it), so folding goes on until nothing changes.
  for (let round = 0; round < 3; round += 1) {
    const again = foldOnce(folded);
    if (again === folded) break;
    folded = again;
  }
  return folded;
}

const ascii = /^[\0-\x7F]*$/;

function foldOnce(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  return text
    .replace(invisible, '')
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
    .replace(mark, (_, kept: string | undefined) => kept ?? '')
    .replace(special, (letter) => plainSpelling[letter] ?? letter)
    .normalize('NFKC');
}
