import { resolve } from 'node:path';
import { mneme, temporaryFolder } from '../support/command-line.js';

const file = process.env.MNEME_TEST_LOCOMO_FILE;

/**
 * The licence of LoCoMo (CC BY-NC 4.0) forbids to pass its texts on, so the file is the reader's own. The bounds are what the
 * ranking reaches, measured offline, less what vectors and rounding may differ from machine to machine.
 */
describe('recall of LoCoMo over HTTP', () => {
  it('finds with the default ranking and the bundled embedder what it is known to find', async () => {
    if (file === undefined) throw new Error('MNEME_TEST_LOCOMO_FILE names no file');
    const folder = temporaryFolder();
    const words = ['eval', 'locomo', resolve(file), '--profile', 'balanced', '--json'];
    const { code, stdout, stderr } = await mneme(words, { MNEME_DATA: folder.path, TMPDIR: folder.path }).ended;
    folder.remove();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { recall_at_10, mrr } = JSON.parse(stdout) as { recall_at_10: number; mrr: number };
    console.info(stdout);
    expect(recall_at_10).toBeGreaterThanOrEqual(0.78);
    expect(mrr).toBeGreaterThanOrEqual(0.59);
  });
});
