import fc from 'fast-check';
import { given } from '../../test/support/given.js';
import {
  decideSource,
  evolveSource,
  isSourceErased,
  noSource,
  type SourceCommand,
  type SourceEvent,
  sourceOf,
} from './source.js';

const source_id = 's-1';
const published = (number: number, revision: string): SourceEvent => ({
  type: 'SourceRevisionPublished',
  source_id,
  number,
  sealed: { key: 'handbook', revision },
});
const erased: SourceEvent = { type: 'SourceErased', source_id };
const publish = (revision: string): SourceCommand => ({ type: 'Publish', source_id, key: 'handbook', revision });
const erase = (by: string | undefined, admin = false): SourceCommand => ({
  type: 'Erase',
  source_id,
  authorship: { by, owner: 'owner', admin },
});

const source = given({ decide: decideSource, evolve: evolveSource, initial: noSource });

describe('publishing a revision', () => {
  it('numbers it from one', () =>
    source([])
      .when(publish('r1'))
      .then([published(1, 'r1')]));
  it('numbers the next one after it', () =>
    source([published(1, 'r1')])
      .when(publish('r2'))
      .then([published(2, 'r2')]));
  it('that is the current one changes nothing', () =>
    source([published(1, 'r1'), published(2, 'r2')])
      .when(publish('r2'))
      .then([]));
  it('that was current before goes back to it', () =>
    source([published(1, 'r1'), published(2, 'r2')])
      .when(publish('r1'))
      .then([published(3, 'r1')]));
  it('of an erased source is refused: its key takes the next generation', () =>
    source([published(1, 'r1'), erased])
      .when(publish('r2'))
      .thenRefuses('erased'));
});

describe('erasing a source', () => {
  it.each([
    ['who published it first', erase('owner')],
    ['an administrator', erase(undefined, true)],
  ])('is for %s', (_, command) =>
    source([published(1, 'r1')])
      .when(command)
      .then([erased]),
  );
  it.each([
    ['somebody else', erase('stranger')],
    ['a key without a profile', erase(undefined)],
  ])('is not for %s', (_, command) =>
    source([published(1, 'r1')])
      .when(command)
      .thenRefuses('not_the_owner'),
  );
  it('happens once', () =>
    source([published(1, 'r1'), erased])
      .when(erase('owner'))
      .then([]));
  it('of nothing is refused', () => source([]).when(erase('owner')).thenRefuses('not_found'));
});

describe('a source', () => {
  it('whose content may not be seen has a number still', () => {
    const shut = { ...published(2, 'r2'), sealed: undefined } as unknown as SourceEvent;
    const gone = { ...published(2, 'r2'), sealed: { redacted: true } } as SourceEvent;
    for (const data of [shut, gone]) expect(sourceOf([{ data }])).toEqual({ status: 'published', number: 2, latest: undefined });
  });

  it('has the numbers 1, 2, 3 whatever is published, and its latest revision is the one asked for last', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('r1', 'r2', 'r3'), { minLength: 1, maxLength: 20 }), (revisions) => {
        const events = revisions.reduce<SourceEvent[]>((all, revision) => {
          const decision = decideSource(publish(revision), sourceOf(all.map((data) => ({ data }))));
          return 'refused' in decision ? all : [...all, ...decision];
        }, []);
        const numbers = events.flatMap((event) => (event.type === 'SourceRevisionPublished' ? [event.number] : []));
        expect(numbers).toEqual(numbers.map((_, index) => index + 1));
        const after = sourceOf(events.map((data) => ({ data })));
        expect(after).toMatchObject({ latest: { revision: revisions.at(-1) } });
      }),
    );
  });

  it('is erased from its erasing event on', () => {
    expect(isSourceErased([{ data: published(1, 'r1') }])).toBe(false);
    expect(isSourceErased([{ data: published(1, 'r1') }, { data: erased }])).toBe(true);
    expect(sourceOf([published(1, 'r1'), erased, published(2, 'r2')].map((data) => ({ data }))).status).toBe('erased');
  });
});
