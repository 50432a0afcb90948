import type { EvidenceItem } from './evidence-memory.js';

/**
 * Six made-up conversations and what one may ask about them: a small pack that shows whether a ranking hangs together. It
 * is too small to tune on; a measurement on real conversations is in `docs/evidence-ranking.md`.
 */
type Turn = readonly [author: string, text: string];

const conversations: Readonly<Record<string, { readonly at: string; readonly turns: readonly Turn[] }>> = {
  boat: {
    at: '2024-04-06T09:30:00Z',
    turns: [
      ['Maren', 'Good morning Tobias! How is the boat coming along?'],
      ['Tobias', 'Slowly. I stripped the old varnish from the hull last weekend and found rot near the keel.'],
      ['Maren', 'Oh no. Can it be repaired?'],
      ['Tobias', 'Yes, my uncle lent me his steam box, so we can bend new oak planks.'],
      ['Maren', 'What will you call her when she is finished?'],
      ['Tobias', 'Sandpiper, after the birds on the mudflats behind our house.'],
      ['Maren', 'Lovely. I have news too: I got the job at the observatory.'],
      ['Tobias', 'Congratulations! When do you start?'],
      ['Maren', 'On the first of May. They want me to recalibrate the radio dishes.'],
      ['Tobias', 'We should celebrate with smoked eel.'],
    ],
  },
  garden: {
    at: '2024-05-18T16:00:00Z',
    turns: [
      ['Tobias', 'The allotment is drowning in nettles.'],
      ['Maren', 'Do you still want to grow potatoes there?'],
      ['Tobias', 'No, the soil is too wet. I planted blackcurrants and two quince trees instead.'],
      ['Maren', 'Who helped you dig?'],
      ['Tobias', 'Ines came on Sunday with her wheelbarrow.'],
      ['Maren', 'How is she after the operation?'],
      ['Tobias', 'Her knee is fine again, she even cycles to work.'],
      ['Maren', 'I am glad. My own back hurts from the night shifts.'],
      ['Tobias', 'Try the sauna in the harbour, it did wonders for me.'],
      ['Maren', 'I will book it for next Thursday.'],
    ],
  },
  choir: {
    at: '2024-06-22T19:45:00Z',
    turns: [
      ['Ines', 'Our choir sings in the cathedral in autumn!'],
      ['Maren', 'Wonderful! Which piece?'],
      ['Ines', 'A requiem. I sing second alto, which nobody ever hears.'],
      ['Maren', 'I would hear you. How often do you rehearse?'],
      ['Ines', 'Every Tuesday, and twice a week from August on.'],
      ['Maren', 'Does your conductor still throw his pencil?'],
      ['Ines', 'He broke three of them in March. We gave him a box for his birthday.'],
      ['Maren', 'Can I bring my nephew to the concert?'],
      ['Ines', 'Of course, children pay nothing.'],
      ['Maren', 'He is learning the cello and would love it.'],
    ],
  },
  kitchen: {
    at: '2024-07-13T11:15:00Z',
    turns: [
      ['Ines', 'I finally opened my bakery stall at the Saturday market.'],
      ['Tobias', 'What sells best?'],
      ['Ines', 'Cardamom buns, by far. The rye loaves go to the restaurants.'],
      ['Tobias', 'And the oven? Last time it kept tripping the fuse.'],
      ['Ines', 'An electrician put in a new line. It cost me four hundred euros.'],
      ['Tobias', 'Ouch. Do you bake alone?'],
      ['Ines', 'My cousin Farid kneads the dough from three in the morning.'],
      ['Tobias', 'Could you make a cake for the launch of the boat?'],
      ['Ines', 'Lemon and poppy seed, as you like it.'],
      ['Tobias', 'You remember everything.'],
    ],
  },
  launch: {
    at: '2024-09-07T14:20:00Z',
    turns: [
      ['Maren', 'So how did the launch go?'],
      ['Tobias', 'She floats! A little water came in at the stern, but the pump managed.'],
      ['Maren', 'Who broke the bottle?'],
      ['Tobias', 'My grandmother did, with elderflower lemonade, because she does not drink.'],
      ['Maren', 'Where will you sail first?'],
      ['Tobias', 'To the lighthouse island, and if the wind holds on to the seal banks.'],
      ['Maren', 'Take the ginger pills, you get seasick.'],
      ['Tobias', 'Already packed. Did you finish the catalogue of pulsars?'],
      ['Maren', 'Almost. The telescope was down for a fortnight after the lightning.'],
      ['Tobias', 'That storm took our chimney as well.'],
    ],
  },
  winter: {
    at: '2024-12-01T10:00:00Z',
    turns: [
      ['Ines', 'I am thinking of moving to the mountains.'],
      ['Maren', 'Really? Because of the stall?'],
      ['Ines', 'The market closes in January, and Farid has found a mill up there that is for rent.'],
      ['Maren', 'Would you give up the choir?'],
      ['Ines', 'There is a small one in the valley that needs altos.'],
      ['Maren', 'We would miss you. When do you decide?'],
      ['Ines', 'After the holidays. I have to see what the bank says.'],
      ['Maren', 'Can the cats come along?'],
      ['Ines', 'Pepper and Saffron go wherever I go.'],
      ['Maren', 'Then at least the mice up there should worry.'],
    ],
  },
};

export const packItems: readonly EvidenceItem[] = Object.entries(conversations).flatMap(([group, { at, turns }]) =>
  turns.map(([author, text], sequence) => ({
    id: `${group}-${sequence}`,
    content: `${author}: ${text}`,
    author,
    group,
    sequence,
    occurredAt: new Date(at),
  })),
);

export interface PackQuestion {
  readonly question: string;
  /** Ids of the evidence that answers it. */
  readonly answers: readonly string[];
}

export const packQuestions: readonly PackQuestion[] = [
  { question: 'What did Tobias find near the keel?', answers: ['boat-1'] },
  { question: 'How can the rot in the hull be repaired?', answers: ['boat-3'] },
  { question: 'What will the boat be called when it is finished?', answers: ['boat-5'] },
  { question: 'When does Maren start her job at the observatory?', answers: ['boat-8'] },
  { question: 'What did Tobias plant instead of potatoes?', answers: ['garden-2'] },
  { question: 'Who helped Tobias dig the allotment?', answers: ['garden-4'] },
  { question: 'How is Ines after her operation?', answers: ['garden-6'] },
  { question: 'What did Tobias recommend for the pain in her back?', answers: ['garden-8'] },
  { question: 'Which piece does the choir of Ines sing in the cathedral?', answers: ['choir-2'] },
  { question: 'How often does Ines rehearse with the choir?', answers: ['choir-4'] },
  { question: 'What does the conductor throw?', answers: ['choir-5', 'choir-6'] },
  { question: 'What do children pay for the concert?', answers: ['choir-8'] },
  { question: 'Which instrument does the nephew of Maren learn?', answers: ['choir-9'] },
  { question: 'What sells best at the bakery stall of Ines?', answers: ['kitchen-2'] },
  { question: 'What was wrong with the oven?', answers: ['kitchen-3', 'kitchen-4'] },
  { question: 'Does Ines bake alone?', answers: ['kitchen-6'] },
  { question: 'Which cake does Ines make for the launch?', answers: ['kitchen-8'] },
  { question: 'Who broke the bottle at the launch?', answers: ['launch-3'] },
  { question: 'Where will Tobias sail first?', answers: ['launch-5'] },
  { question: 'What should Tobias take because he gets seasick?', answers: ['launch-6'] },
  { question: 'How long was the telescope down?', answers: ['launch-8'] },
  { question: 'What happened to the boat in September 2024?', answers: ['launch-1'] },
  { question: 'Why would Ines move to the mountains?', answers: ['winter-2'] },
  { question: 'When does Ines decide about moving?', answers: ['winter-6'] },
  { question: 'What are the cats of Ines called?', answers: ['winter-8'] },
];
