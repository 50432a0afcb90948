import type { Command } from 'commander';
import { createReadStream, type ReadStream, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { chatField, chatReader } from '../importing/chat.js';
import { importEvidence, type ImportReport, readings } from '../importing/import-evidence.js';
import { jsonlReader } from '../importing/jsonl.js';
import { readLocomo } from '../importing/locomo.js';
import { beginsArray, elementsOf, linesOf } from '../importing/pieces.js';
import type { Reader } from '../importing/record.js';
import type { Client } from './client.js';
import { CliFailure, exitCodes } from './failure.js';
import { httpSink } from './http-sink.js';
import { importConversation } from './locomo.js';
import { progressOf } from './progress-bar.js';
import type { Shell } from './shell.js';
import { inTeam } from './team-access.js';
import { printable } from './output.js';

interface ImportOptions {
  readonly scope?: string;
  readonly team?: string;
  readonly profile: string;
}

/** Importers: evidence from files. */
export function addImport(program: Command, shell: Shell): void {
  const imports = program.command('import').description('remember evidence from a file; what is known already is left as it is');
  fileOptions(imports.command('jsonl'), 'a body of POST /v1/evidence in each line').action(
    (file: string, options: ImportOptions) =>
      importFile(shell, file, options, { reader: jsonlReader(options.scope), arrays: false }),
  );
  fileOptions(imports.command('chat'), 'messages, one in each line or as a JSON array').action(
    (file: string, options: ImportOptions) =>
      importFile(shell, file, options, { reader: chatReader(options.scope), arrays: true, fieldName: chatField }),
  );
  imports
    .command('locomo')
    .description('conversations of the LoCoMo benchmark, each into a team of its own; needs an operator’s key')
    .argument('<file>', 'file in the shape of the published one')
    .option('--team <name>', 'what the names of the teams begin with', 'locomo')
    .option('--scope <scope>', 'part of the teams’ memory')
    .action((file: string, options: { team: string; scope?: string }) => importLocomo(shell, file, options));
}

const fileOptions = (command: Command, description: string): Command =>
  command
    .description(description)
    .argument('<file>', 'file to read, UTF-8')
    .option('--scope <scope>', 'part of the team’s memory, for what names none itself')
    .option('--team <team>', 'id or name of the team; operators name it, the key of a team need not')
    .option('--profile <name>', 'with --team: author that remembers it, made where there is none', 'importer');

interface Format {
  readonly reader: Reader;
  /** Whether the file may be one JSON array. */
  readonly arrays: boolean;
  readonly fieldName?: (field: string) => string;
}

async function importFile(shell: Shell, file: string, options: ImportOptions, format: Format): Promise<void> {
  const size = sizeOf(file);
  const cut = format.arrays && (await beginsArray(chunksOf(file))) ? elementsOf : linesOf;
  const scopes = ['memory:read', 'memory:write'];
  const report = await shell.withService((client) =>
    inTeam(client, { team: options.team, profile: options.profile, scopes }, async (member) => {
      const stream = chunksOf(file);
      const bar = progressOf(shell.output, 'import');
      try {
        const sink = httpSink(member, shell.signal);
        const { fieldName } = format;
        return await importEvidence(readings(cut(stream), format.reader), sink, {
          ...(fieldName && { fieldName }),
          onProgress: (soFar) => bar.show(stream.bytesRead, size, countsText(soFar)),
        });
      } finally {
        bar.stop();
        stream.destroy();
      }
    }),
  );
  conclude(shell, report, report);
}

interface ConversationReport extends ImportReport {
  readonly conversation: string;
  readonly team_id: string;
}

/** The whole file is read: it is one JSON value, of a few megabytes. */
async function importLocomo(shell: Shell, file: string, { team, scope }: { team: string; scope?: string }): Promise<void> {
  sizeOf(file);
  const conversations = readLocomo(await readFile(file, 'utf8'));
  await shell.withService(async (operator: Client) => {
    const bar = progressOf(shell.output, 'import');
    const done: ConversationReport[] = [];
    try {
      for (const conversation of conversations) {
        const imported = await importConversation(operator, conversation, { team, scope, signal: shell.signal });
        await imported.access.close();
        done.push({ conversation: conversation.id, team_id: imported.team, ...imported.report });
        bar.show(done.length, conversations.length, countsText(sumOf(done)));
      }
    } finally {
      bar.stop();
    }
    conclude(shell, sumOf(done), { ...sumOf(done), conversations: done.map(countsOf) });
  });
}

const countsOf = ({ conversation, team_id, created, duplicates, refused }: ConversationReport) => ({
  conversation,
  team_id,
  created,
  duplicates,
  refused,
});

function sumOf(reports: readonly ImportReport[]): ImportReport {
  const sum = (count: (report: ImportReport) => number) => reports.reduce((total, report) => total + count(report), 0);
  return {
    created: sum(({ created }) => created),
    duplicates: sum(({ duplicates }) => duplicates),
    refused: sum(({ refused }) => refused),
    refusals: reports.flatMap(({ refusals }) => refusals),
  };
}

/** @throws CliFailure when anything was refused, after the report */
function conclude({ output }: Shell, report: ImportReport, result: object): void {
  for (const { line, code, field } of report.refusals)
    output.note(printable(`line ${line}: ${code}${field === null ? '' : ` (${field})`}`));
  output.result(result, () => countsText(report));
  if (report.refused > 0)
    throw new CliFailure(exitCodes.failed, 'import_refused', `${report.refused} of the records were refused`);
}

const countsText = ({ created, duplicates, refused }: ImportReport): string =>
  `${created} created, ${duplicates} known already, ${refused} refused`;

const chunksOf = (file: string): ReadStream & AsyncIterable<Buffer> => createReadStream(file);

/** @throws CliFailure for what is no file that can be read */
function sizeOf(file: string): number {
  try {
    const status = statSync(file);
    if (status.isFile()) return status.size;
  } catch (error) {
    throw unreadable((error as NodeJS.ErrnoException).code ?? 'unknown');
  }
  throw unreadable('not a file');
}

const unreadable = (reason: string) =>
  new CliFailure(exitCodes.failed, 'file_unreadable', `the file cannot be read (${reason})`, { field: 'file' });
