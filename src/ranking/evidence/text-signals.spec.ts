import { textSignals } from './text-signals.js';

const english = (text: string) => textSignals(text, 'english');

describe('a text', () => {
  it.each(['How are you?', 'I am fine. And you?', 'Really? 😊', '你好吗？', 'كيف حالك؟', 'Did she say "yes?"', 'Shall we?  \n'])(
    '"%s" asks',
    (text) => {
      expect(english(text).asks).toBe(true);
    },
  );

  it.each(['Why not? Let us go.', 'fine', '', 'see /path?query=1 for more'])('"%s" does not ask', (text) => {
    expect(english(text).asks).toBe(false);
  });

  it.each([
    'I went yesterday.',
    'since May 2021',
    'three weeks ago',
    'on Friday',
    'in 1999',
    'at 10:30',
    'next month',
    'for two hours',
  ])('"%s" tells a time', (text) => {
    expect(english(text).tellsTime).toBe(true);
  });

  it.each(['She may come.', 'I bought bread.', 'room 12', ''])('"%s" tells none', (text) => {
    expect(english(text).tellsTime).toBe(false);
  });

  it('tells no time in a language whose words for it are not known', () => {
    expect(textSignals('on Friday', 'german').tellsTime).toBe(false);
  });

  it('of any length is read in no time', () => {
    const started = process.cpuUsage();
    for (const text of ['? '.repeat(200_000), ' '.repeat(400_000), 'last '.repeat(80_000), '1'.repeat(400_000)]) english(text);
    expect(process.cpuUsage(started).user / 1_000_000).toBeLessThan(3);
  });
});
