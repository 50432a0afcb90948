export { errorFacts } from '../error-facts.js';
