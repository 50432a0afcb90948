import { tableText } from './output.js';
import type { Build, BuildName, Projection, Verification } from './projections.answers.js';

const right = 'right';
const left = 'left';

export const nameOf = ({ version, build }: BuildName): string => `version ${version} build ${build}`;

/** A line for each build; the one that serves first, with the state of the projection as a whole. */
export const statusTable = (items: readonly Projection[]): string =>
  tableText(
    ['NAME', 'VERSION', 'BUILD', 'STATE', 'POSITION', 'HEAD', 'LAG', 'EVENTS/S', 'ETA', 'LAST ERROR'],
    items.flatMap((projection) => lines(projection)),
    [left, right, right, left, right, right, right, right, right, left],
  );

function lines(projection: Projection): string[][] {
  const { name, version, build, state, head, last_error, builds } = projection;
  const others = builds.filter(({ role }) => role !== 'serving');
  return [
    [name, String(version), String(build), state, ...paceOf(projection, head), last_error ?? ''],
    ...others.map((other) => [
      '',
      String(other.version),
      String(other.build),
      stateOf(other),
      ...paceOf(other, head),
      errorOf(other),
    ]),
  ];
}

const stateOf = ({ state, role }: Build): string => (state === 'stopped' ? `${role}, stopped` : state);

/** That it cannot serve again is told whatever the reason. */
const errorOf = ({ last_error, projected, role }: Build): string =>
  [last_error, !projected && role === 'standby' ? 'cannot be rolled back to' : null].filter((text) => text !== null).join('; ');

const paceOf = ({ position, lag, rate, eta_seconds }: Projection | Build, head: number): string[] => [
  String(position),
  String(head),
  `${lag.seconds.toFixed(1)} s`,
  rate.toFixed(0),
  etaText(eta_seconds),
];

/** `1 h 05 min`, `2 min 10 s`, `7 s`; a dash when nothing moves. */
export function etaText(seconds: number | null): string {
  if (seconds === null) return '-';
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
  return `${Math.floor(whole / 3_600)} h ${String(Math.floor((whole % 3_600) / 60)).padStart(2, '0')} min`;
}

/** A line for each table, then the rows that differ. */
export function comparisonTable({ projection, position, serving, candidate, equal, tables }: Verification): string {
  const table = tableText(
    ['TABLE', 'SERVING', candidate.role.toUpperCase(), 'COMPARED', 'RESULT'],
    tables.map((each) => [
      each.table,
      each.serving ? String(each.serving.rows) : '-',
      each.candidate ? String(each.candidate.rows) : '-',
      each.columns.length === 0 ? 'rows counted only' : `${each.columns.length} columns`,
      each.columns.length === 0 ? '-' : each.equal ? 'equal' : 'differs',
    ]),
    [left, right, right, left, left],
  );
  const differing = tables.flatMap(({ table: name, differences }) =>
    differences.map(({ found, key }) => `${name}: ${words[found] ?? found}: ${keyText(key)}`),
  );
  const verdict = `${projection}: ${nameOf(candidate)} (${candidate.role}) ${equal ? 'equals' : 'differs from'} ${nameOf(serving)} (serving), at position ${position}`;
  return [table, ...differing, verdict].join('\n');
}

const words: Readonly<Record<string, string>> = {
  only_serving: 'only in what serves',
  only_candidate: 'not in what serves',
  differs: 'differs',
};

const keyText = (key: Readonly<Record<string, string>>): string =>
  Object.entries(key)
    .map(([column, value]) => `${column} ${value}`)
    .join(', ');
