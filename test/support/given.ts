type Decide<State, Command, Event> = (command: Command, state: State) => readonly Event[] | { refused: string };

/** Given past events, when a command is decided, then these events follow, or it is refused with this code. */
export const given =
  <State, Command, Event>({
    decide,
    evolve,
    initial,
  }: {
    decide: Decide<State, Command, Event>;
    evolve: (state: State, event: Event) => State;
    initial: State;
  }) =>
  (past: readonly Event[]) => ({
    when: (command: Command) => {
      const decision = decide(command, past.reduce(evolve, initial));
      return {
        then: (events: readonly Event[]) => expect(decision).toEqual(events),
        thenRefuses: (code: string) => expect(decision).toMatchObject({ refused: code }),
      };
    },
  });
