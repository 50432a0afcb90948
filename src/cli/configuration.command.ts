import type { Command } from 'commander';
import { z } from 'zod';
import { settings } from '../config/settings.js';
import { tableText } from './output.js';
import type { Shell } from './shell.js';

/** One setting, as the docs and the command line show it. */
export interface SettingView {
  readonly name: string;
  /** Null when there is none. */
  readonly default: string | null;
  /** What values are taken, in words. */
  readonly allowed: string;
  readonly meaning: string;
}

/** The reference of settings. */
export function addConfiguration(program: Command, { output }: Shell): void {
  program
    .command('configuration')
    .description('list all settings with their defaults and ranges')
    .option('--markdown', 'print the page docs/configuration.md')
    .action(({ markdown }: { markdown?: true }) => {
      const all = settingViews();
      if (markdown) output.bare(configurationPage(all));
      else output.result({ settings: all }, () => settingsTable(all));
    });
}

/** What JSON Schema says of a value that a setting is read into. */
interface ValueSchema {
  readonly type?: string;
  readonly default?: string | number;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly format?: string;
  readonly anyOf?: readonly ValueSchema[];
}

export const settingViews = (): SettingView[] => Object.entries(settings).map(([name, schema]) => settingView(name, schema));

function settingView(name: string, schema: z.ZodType): SettingView {
  const value = z.toJSONSchema(schema, { io: 'output' }) as ValueSchema;
  const { default: preset } = value;
  return {
    name,
    default: preset === undefined ? null : String(preset),
    allowed: allowedText(value, (text) => schema.safeParse(text)),
    meaning: value.description ?? '',
  };
}

type Read = (text: string) => z.ZodSafeParseResult<unknown>;

/** @param read asks the setting itself: JSON Schema does not know the rules that are code of our own */
function allowedText(value: ValueSchema, read: Read): string {
  if (value.anyOf) return value.anyOf.map((each) => allowedText(each, read)).join(', or ');
  if (value.const !== undefined) return value.const;
  if (value.enum) return value.enum.join(', ');
  if (value.type === 'integer' || value.type === 'number') return numberText(value, read);
  return value.format === 'uri' ? 'http or https URL' : (ruleText(read) ?? 'text');
}

function numberText({ type, minimum, maximum }: ValueSchema, read: Read): string {
  const kind = type === 'integer' ? 'whole number' : 'number';
  if (minimum !== undefined && maximum !== undefined) return `${kind}, ${minimum} to ${maximum}`;
  return read('0').success ? kind : `${kind} above 0`;
}

/** What the setting says to a text that no setting with a rule takes; valid base64, so that it is not refused for that. */
const ruleText = (read: Read): string | undefined => read('AAAA').error?.issues[0]?.message;

const settingsTable = (all: readonly SettingView[]): string =>
  tableText(
    ['NAME', 'DEFAULT', 'ALLOWED', 'MEANING'],
    all.map(({ name, default: preset, allowed, meaning }) => [name, preset ?? '', allowed, meaning]),
  );

const code = (text: string | null): string => (text === null ? '' : `\`${text}\``);

/** The page of the docs, formatted as the formatter of the repository wants it. */
export const configurationPage = (all: readonly SettingView[]): string =>
  [
    '# Configuration',
    '',
    'Settings are environment variables. `MNEME_CONFIG_FILE` names a file of `NAME=value` lines (and `#` comments) that fills in what the environment leaves out. An unknown `MNEME_*` variable, anything in the file that is no setting, or a value outside its range stops start-up with a message that names it; only `MNEME_TEST_*` is left to tests. An empty value counts as unset.',
    '',
    'With `DATABASE_URL`, keep `MNEME_MASTER_KEY` somewhere safe and apart from the database: without it nothing that was remembered can be read again. Without `DATABASE_URL`, it is made at the first start and kept in the data folder.',
    '',
    'This page is generated from the settings themselves, by `mneme configuration --markdown`; a test compares the two.',
    '',
    ...markdownTable([
      ['name', 'default', 'allowed', 'meaning'],
      ...all.map(({ name, default: preset, allowed, meaning }) => [code(name), code(preset), allowed, meaning]),
    ]),
  ].join('\n');

function markdownTable(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map((text) => text.replaceAll('|', '\\|')));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = cells;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)];
}
