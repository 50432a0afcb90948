import { CliFailure, exitCodes } from './failure.js';
import { Output, printable, tableText } from './output.js';

const captured = () => {
  const written: string[] = [];
  return { stream: { write: (text: string) => written.push(text) }, text: () => written.join('') };
};

const outputs = ({ json = false, stackTraces = false } = {}) => {
  const stdout = captured();
  const stderr = captured();
  return { output: new Output(stdout.stream, stderr.stream, json, stackTraces), stdout: stdout.text, stderr: stderr.text };
};

const refused = new CliFailure(exitCodes.failed, 'validation_failed', 'Validation failed', {
  field: 'name',
  fields: [{ field: 'name', rule: 'code_points', message: 'must be a text' }],
  status: 422,
  correlationId: 'c-1',
});

describe('output', () => {
  it('prints a result as JSON or as text, never as both', () => {
    const [people, machine] = [outputs(), outputs({ json: true })];
    for (const { output } of [people, machine]) output.result({ team_id: 't-1' }, () => 'Team t-1');
    expect(people.stdout()).toBe('Team t-1\n');
    expect(JSON.parse(machine.stdout())).toEqual({ team_id: 't-1' });
  });

  it('keeps notes for people off stdout, and away from machines', () => {
    const [people, machine] = [outputs(), outputs({ json: true })];
    for (const { output } of [people, machine]) output.note('starting');
    expect([people.stdout(), people.stderr(), machine.stdout(), machine.stderr()]).toEqual(['', 'starting\n', '', '']);
  });

  it('tells people a failure with its code, its fields and the correlation id', () => {
    const { output, stderr } = outputs();
    output.failure(refused);
    expect(stderr()).toBe('mneme: validation_failed (name): Validation failed\n  name: must be a text\n  correlation id: c-1\n');
  });

  it('tells machines a failure as one line of JSON', () => {
    const { output, stdout, stderr } = outputs({ json: true });
    output.failure(refused);
    expect(stderr().trimEnd()).not.toContain('\n');
    expect(JSON.parse(stderr())).toEqual({
      error: {
        code: 'validation_failed',
        message: 'Validation failed',
        field: 'name',
        fields: [{ field: 'name', rule: 'code_points', message: 'must be a text' }],
        status: 422,
        correlation_id: 'c-1',
        exit_code: 1,
      },
    });
    expect(stdout()).toBe('');
  });

  it('shows a stack trace only when it was asked for one', () => {
    const [quiet, debugging] = [outputs(), outputs({ stackTraces: true })];
    for (const { output } of [quiet, debugging]) output.failure(refused);
    expect(quiet.stderr()).not.toContain(' at ');
    expect(debugging.stderr()).toContain(' at ');
  });
});

describe('a table', () => {
  it('has columns side by side, without borders and without blanks at the ends of lines', () => {
    const text = tableText(
      ['NAME', 'RUNS'],
      [
        ['refund', '20'],
        ['a', '3'],
      ],
      ['left', 'right'],
    );
    expect(text).toBe('NAME    RUNS\nrefund    20\na          3');
  });

  it('is its head alone when there is nothing to show', () => {
    expect(tableText(['ID', 'NAME'], [])).toBe('ID  NAME');
  });

  it('lets no name move the cursor, change the direction of writing, or begin a line of its own', () => {
    expect(tableText(['NAME'], [['a\u001b[2Jb\nc\u202ed']])).toBe('NAME\na\ufffd[2Jb c\ufffdd');
  });

  it('leaves other scripts and joined emoji as they are', () => {
    const names = 'Zoë · 山田 · 👩\u200d🚀';
    expect(printable(names)).toBe(names);
  });
});
