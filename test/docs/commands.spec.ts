import { spawn } from 'node:child_process';
import { compiledFile, packageRoot } from '../../src/config/package-root.js';
import { temporaryFolder } from '../support/command-line.js';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';
import { differingFields, missingLines } from './documented-output.js';
import { type Block, type Page, pages } from './markdown.js';

/**
 * Runs the commands of the docs. A block ```sh run is run, in a shell that all blocks of a page share; a block
 * ```text output or ```json output after it says what it prints. `npm run mneme` is the compiled command line, `npm
 * start` the compiled service, and the address of the docs is that of this test's service: nothing is built, no port taken.
 */
const documentedAddress = 'http://127.0.0.1:7070';
const patience = 180_000;

/** What the test of everything runs itself, or what would start a service for good. */
const runElsewhere = [
  /^npm ci( && npm (run demo|test))?$/,
  /^([A-Z_]+=\S+ )*npm (start|test)$/,
  /^npm run (demo|lint|format|types|boundaries|build)$/,
  /^([A-Z_]+=\S+ )*npm run (bench|test:native|test:eventstore|test:crash|test:locomo)$/,
  /^\.ci\/run$/,
];

const isRun = ({ language, words }: Block) => language === 'sh' && words.includes('run');
const isOutput = ({ words }: Block) => words.includes('output');

const prelude = `set -euo pipefail
npm() {
  local words=("$@")
  if [[ " $* " != *" mneme -- "* ]]; then echo "not a command of this test: npm $*" >&2; return 1; fi
  while [[ "\${words[0]}" != -- ]]; do words=("\${words[@]:1}"); done
  node "$MNEME_TEST_COMMAND" "\${words[@]:1}"
}
`;

describe('commands in the docs', () => {
  const all = pages();
  const folder = temporaryFolder();
  let service: ServiceProcess;

  beforeAll(async () => {
    service = await startServiceProcess({ MNEME_DATA: folder.path });
  }, patience);
  afterAll(async () => {
    await service.stop();
    folder.remove();
  });

  it.each(all.filter(({ blocks }) => blocks.some(isRun)).map((page): [string, Page] => [page.path, page]))(
    'of %s run and print what it says',
    async (_, { blocks }) => {
      const commands = blocks.filter(isRun);
      const { code, outputs } = await runAll(commands.map(({ text }) => text.replaceAll(documentedAddress, service.url)));
      // Where a command failed, its output says more than its code does.
      expect(code === 0 ? 'ran' : outputs.at(-1)).toBe('ran');
      expect(differences(blocks, outputs)).toEqual([]);
    },
    patience,
  );

  it('are all run by a test', () => {
    const unmarked = all.flatMap(({ path, blocks }) =>
      blocks
        .filter((block) => ['sh', 'bash', 'shell', 'console'].includes(block.language) && !isRun(block))
        .flatMap(({ text }) => text.split('\n'))
        .map((line) => line.replace(/ *#.*$/, ''))
        .filter((line) => line !== '' && !runElsewhere.some((pattern) => pattern.test(line)))
        .map((line) => `${path}: ${line}`),
    );
    expect(unmarked).toEqual([]);
  });

  /** One shell, one output per block. */
  async function runAll(blocks: readonly string[]): Promise<{ code: number | null; outputs: string[] }> {
    const mark = `=== block of ${process.pid} ===`;
    const script = blocks.map((block) => `printf '\\n%s\\n' '${mark}'\n${block}`).join('\n');
    const { PATH = '', HOME = '' } = process.env;
    const shell = spawn('bash', ['-c', `${prelude}exec 2>&1\n${script}`], {
      cwd: packageRoot,
      env: { PATH, HOME, MNEME_DATA: folder.path, MNEME_TEST_COMMAND: compiledFile('src/cli/mneme.js') },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    shell.stdout.on('data', (text: Buffer) => (printed += text.toString()));
    const code = await new Promise<number | null>((resolve) => shell.on('close', resolve));
    return { code, outputs: printed.split(`\n${mark}\n`).slice(1) };
  }
});

function differences(blocks: readonly Block[], outputs: readonly string[]): string[] {
  let place = -1;
  return blocks.flatMap((block) => {
    if (isRun(block)) place += 1;
    if (!isOutput(block)) return [];
    const printed = outputs[place] ?? '';
    if (block.language === 'json') return differingFields(JSON.parse(block.text), parsed(printed));
    return missingLines(block.text, printed).map((line) => `not printed: ${line}\nbut: ${printed}`);
  });
}

/** The last JSON value of an output, on a line of its own or, as the command line prints it, on several to the end. */
function parsed(printed: string): unknown {
  const lines = printed.split('\n').filter((line) => line.startsWith('{'));
  const candidates = [...lines.reverse(), printed.slice(printed.search(/^\{/m))];
  for (const candidate of candidates) {
    try {
      return JSON.parse(candidate) as unknown;
    } catch {
      continue;
    }
  }
  return printed;
}
