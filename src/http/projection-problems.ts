import type { BuildRefusal } from '../../projections/engine/errors.js';
import type { HttpProblemOptions } from './http-problem.js';

type Answers<Codes extends string> = {
  readonly [Code in Codes]: HttpProblemOptions & { readonly status: number; readonly code: Code };
};

const soon = { 'retry-after': '5' };

/** Why builds of a read model stay as they are, as it is answered. */
export const projectionProblems: Answers<BuildRefusal> = {
  no_ready_build: { status: 409, code: 'no_ready_build', detail: 'No build is ready: make one with rebuild and hold.' },
  ready_build_behind: { status: 409, code: 'ready_build_behind', headers: soon, detail: 'It is still being built.' },
  ready_build_stopped: {
    status: 409,
    code: 'ready_build_stopped',
    detail: 'It stopped at an event: skip that, or mend the code and rebuild.',
  },
  ready_build_not_projected: {
    status: 409,
    code: 'ready_build_not_projected',
    detail: 'This service has no code for its version.',
  },
  no_standby_build: { status: 409, code: 'no_standby_build', detail: 'No build that served before is kept.' },
  standby_build_behind: { status: 409, code: 'standby_build_behind', headers: soon, detail: 'It is still catching up.' },
  standby_build_stopped: {
    status: 409,
    code: 'standby_build_stopped',
    detail: 'It stopped at an event and lacks what came after it.',
  },
  standby_build_not_projected: {
    status: 409,
    code: 'standby_build_not_projected',
    detail: 'This service has no code for its version, so it lacks what came since.',
  },
  nothing_to_verify: { status: 409, code: 'nothing_to_verify', detail: 'There is no other build beside the one that serves.' },
  builds_not_level: {
    status: 409,
    code: 'builds_not_level',
    detail: 'One of the two is stopped or still being built, so they are not at the same position.',
  },
  nothing_to_drop: {
    status: 409,
    code: 'nothing_to_drop',
    detail: 'The build that serves cannot be dropped, and there is no other.',
  },
  version_not_declared: {
    status: 422,
    code: 'version_not_declared',
    field: 'version',
    detail: 'This service has no code for that version.',
  },
};
